/**
 * Opens the TCP address at which the project's code reaches the server of its own deployment: the value of PORT and
 * LANGGRAPH_API_URL, as other servers set them. The network shows an address to every user of the machine, so a request
 * counts only with an id that this process has given it. The id leads to the code that made the request: it is answered
 * as a part of that code's run, for the run's user.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { Agent, type ClientRequest, createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { discardUnreadBodies } from '@runyard/service-kit/unread-bodies';
import type { LoopbackClient } from './loopback-client.ts';
import { sendResponse, toPassedRequest } from './node-messages.ts';

/** Names the piece of code that sends a request. It never leaves this process, except by mistake. */
const SENDER_HEADER = 'x-runyard-sender';
const REFUSED =
  "This address is for the project's own code: it answers what the code's process sends by fetch or node:http alone.";
const NO_SERVER = 'The deployment has no server while its project is built.';

/** `localhost` has two addresses, and clients try either first. */
const IPV4 = '127.0.0.1';
const IPV6 = '::1';
const HOSTS: ReadonlySet<string> = new Set(['localhost', IPV4, IPV6, `[${IPV6}]`]);
const KEEP_ALIVE_MS = 75_000;
/** Others on the machine can connect, and must not use up the descriptors of this process. */
const CONNECTIONS_MAX = 1_000;
const PORTS_TRIED_MAX = 10;

type Context = <T>(work: () => T) => T;

/**
 * Opens the address and returns its port. From then on `fetch` and clients of `node:http` are known there.
 *
 * @param client answers the requests; without one they are 503
 * @throws Error when this process may not listen
 */
export async function openOwnAddress(client: LoopbackClient | undefined): Promise<number> {
  const senders = new Senders();
  const port = await listen(async (req, res) => {
    const id = req.headers[SENDER_HEADER];
    delete req.headers[SENDER_HEADER];
    const context = senders.find(id);
    if (context === undefined || client === undefined) {
      const [status, detail] = context === undefined ? [403, REFUSED] : [503, NO_SERVER];
      res.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
      res.end(JSON.stringify({ detail }));
      return;
    }
    try {
      const { request, body } = toPassedRequest(req, res, undefined);
      const response = await context(() => client.fetchForUser(request, body));
      // Clients follow a redirect to another server with the headers of the first request.
      if (leadsElsewhere(response, request.url, port)) senders.forget(id);
      await sendResponse(res, response);
    } catch (error) {
      if (res.headersSent) res.destroy();
      else {
        res.writeHead(502, { 'content-type': 'application/json' });
        res.end(JSON.stringify({ detail: (error as Error).message }));
      }
    }
  });
  markFetch(port, senders);
  markHttpRequests(port, senders);
  return port;
}

/** The requests to the address that are under way, each with the asynchronous context of the code that makes it. */
class Senders {
  readonly #contexts = new Map<string, Context>();

  /** Returns an id for a request that the calling code makes. It is valid until it is forgotten. */
  add(): string {
    const id = randomUUID();
    this.#contexts.set(id, AsyncLocalStorage.snapshot());
    return id;
  }

  find(id: unknown): Context | undefined {
    return this.#contexts.get(String(id));
  }

  forget(id: unknown): void {
    this.#contexts.delete(String(id));
  }
}

/** Listens on both addresses of `localhost`, with one port: nobody else gets what is meant for the other. */
async function listen(onRequest: RequestListener): Promise<number> {
  for (let tried = 1; ; tried++) {
    const first = createOwnServer(onRequest);
    await listenOn(first, 0, IPV4);
    const { port } = first.address() as AddressInfo;
    try {
      await listenOn(createOwnServer(onRequest), port, IPV6);
    } catch (error) {
      // Machines without IPv6 give other errors.
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
        first.close();
        if (tried === PORTS_TRIED_MAX) throw error;
        continue;
      }
    }
    return port;
  }
}

function createOwnServer(onRequest: RequestListener): Server {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, onRequest);
  server.maxConnections = CONNECTIONS_MAX;
  discardUnreadBodies(server);
  return server.unref();
}

async function listenOn(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}

/**
 * Gives requests of `fetch` their id. Connections are pooled, so only the call itself belongs to the code that makes it.
 */
function markFetch(port: number, senders: Senders): void {
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const isRequest = typeof input === 'object' && 'url' in input;
    if (!isOwnUrl(isRequest ? input.url : String(input), port)) return fetch(input, init);
    const id = senders.add();
    const headers = new Headers(init?.headers ?? (isRequest ? input.headers : undefined));
    headers.set(SENDER_HEADER, id);
    try {
      return await fetch(input, { ...init, headers });
    } finally {
      senders.forget(id);
    }
  };
}

/** An agent gets each request while its code makes it. Node's types leave the method out. */
interface RequestQueue {
  addRequest(req: ClientRequest, options: { port?: unknown }, ...others: unknown[]): void;
}

/** Gives requests of `node:http`, on which many clients are built, their id. */
function markHttpRequests(port: number, senders: Senders): void {
  const agents = Agent.prototype as unknown as RequestQueue;
  const { addRequest } = agents;
  agents.addRequest = function (req, options, ...others) {
    const isOwn = req.protocol === 'http:' && HOSTS.has(req.host) && Number(options.port) === port;
    if (isOwn && !req.headersSent) {
      const id = senders.add();
      req.setHeader(SENDER_HEADER, id);
      req.once('close', () => senders.forget(id));
    }
    addRequest.call(this, req, options, ...others);
  };
}

function isOwnUrl(url: string, port: number): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, port: named } = new URL(url);
  return protocol === 'http:' && HOSTS.has(hostname) && named === String(port);
}

function leadsElsewhere({ headers }: Response, base: string, port: number): boolean {
  const location = headers.get('location');
  return location !== null && !(URL.canParse(location, base) && isOwnUrl(new URL(location, base).href, port));
}
