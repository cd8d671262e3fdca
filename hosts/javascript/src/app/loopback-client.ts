/** Sends requests to the server of the project's own deployment, over the socket that the parent opened. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { isHopByHop } from '@runyard/contracts/hop-by-hop';
import {
  type AuthUser,
  DEPTH_HEADER,
  EXCHANGE_HEADER,
  encodeUser,
  LOOPBACK_HEADER,
  type Loopback,
  RUN_HEADER,
  UNKNOWN_USER,
  USER_HEADER,
} from '@runyard/host-protocol/graph-process';
import { printContext, runTraceparent, runUser } from '../process/console.ts';
import type { Body } from './request-body.ts';

/** The request that a piece of the project's code is serving. */
export interface Origin {
  /** The number of requests by the project's own code that led to this one. */
  depth: number;
  /** Identifies the request from outside that the code may pass on. */
  exchange?: string;
  /** The project's user who sent the request. */
  user?: AuthUser;
}

/** No design needs more levels. Without a limit, middleware that calls its own server would recurse without end. */
const DEPTH_MAX = 10;
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);
const NO_SERVER = 'http://localhost';

export class LoopbackClient {
  /** Public base URL of the deployment, without a slash at its end. */
  readonly address: string;
  readonly #loopback: Loopback;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #origins = new AsyncLocalStorage<Origin>();

  constructor(loopback: Loopback, address: string = NO_SERVER) {
    this.#loopback = loopback;
    this.address = address.replace(/(?<!\/)\/+$/, '');
  }

  /** Runs `work` as part of serving a request. */
  withOrigin<T>(origin: Origin, work: () => T): T {
    return this.#origins.run(origin, work);
  }

  /**
   * Behaves like the global `fetch`, but sends every request to this deployment, whatever the host of the URL. It does
   * not follow redirects.
   */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const target = typeof input === 'string' && input.startsWith('/') ? `${NO_SERVER}${input}` : input;
    const asked = new Request(target, init);
    return this.#ask(asked, asked.body);
  };

  /**
   * Sends a request to this deployment with the rights of the user for whom the calling code works: that of its run, or
   * of the request it is serving. Where those have none it is a request of the project itself, as `fetch` sends it. Code
   * of which neither is known says so: a project with users of its own has no rights for it, as it may serve one of them.
   */
  fetchForUser(asked: Request, body: Body): Promise<Response> {
    const origin = this.#origins.getStore();
    const user = origin?.user ?? runUser();
    const isKnown = origin !== undefined || printContext() !== undefined;
    const own = user ? encodeUser(user) : isKnown ? undefined : UNKNOWN_USER;
    return this.#ask(asked, body, own === undefined ? {} : { [USER_HEADER]: own });
  }

  async #ask(asked: Request, body: Body, own: Record<string, string> = {}): Promise<Response> {
    const depth = (this.#origins.getStore()?.depth ?? 0) + 1;
    if (depth > DEPTH_MAX) {
      throw new Error(`The project asks its own server, which asks the project again, ${DEPTH_MAX} levels deep.`);
    }
    const run = printContext();
    const traceparent = runTraceparent();
    return this.#send(asked, body, {
      ...own,
      // Requests of a run belong to its trace, unless they say otherwise.
      ...(traceparent !== undefined && !asked.headers.has('traceparent') && { traceparent }),
      [DEPTH_HEADER]: String(depth),
      ...(run && { [RUN_HEADER]: run.runId }),
    });
  }

  /** Has the server answer the request that is being served, with the rights of its original caller. */
  async passOn(asked: Request, body: Body): Promise<Response> {
    const { exchange, depth } = this.#origins.getStore() ?? {};
    if (exchange === undefined) throw new Error('Only a request that came from outside can be passed on, and once.');
    return this.#send(asked, body, { [EXCHANGE_HEADER]: exchange, [DEPTH_HEADER]: String(depth) });
  }

  /** Removes the public path prefix of the deployment, which the server does not know. */
  #belowAddress(url: string): string {
    const { address } = this;
    return url.startsWith(`${address}/`) ? new URL(address).origin + url.slice(address.length) : url;
  }

  #send(asked: Request, body: Body, own: Record<string, string>): Promise<Response> {
    const { pathname, search, host } = new URL(this.#belowAddress(asked.url));
    const { socketPath, token } = this.#loopback;
    const headers: Record<string, string> = {};
    asked.headers.forEach((value, name) => {
      if (!isHopByHop(name) && !name.startsWith('x-runyard-')) headers[name] = value;
    });
    // Middleware may have changed the length of the body.
    delete headers['content-length'];
    Object.assign(headers, framing(body));
    headers.host ??= host;
    return new Promise((resolve, reject) => {
      const sent = httpRequest({
        socketPath,
        agent: this.#agent,
        method: asked.method,
        path: pathname + search,
        headers: { ...headers, ...own, [LOOPBACK_HEADER]: token },
        signal: asked.signal,
      });
      sent.once('response', (answer) => resolve(toResponse(answer, asked.method)));
      sent.once('error', reject);
      write(body, sent).catch((error: Error) => sent.destroy(error));
    });
  }
}

/** Says how long a body is: for some methods Node's client would send it as it is, as if it were the next request. */
function framing(body: Body): Record<string, string> {
  if (body === null) return {};
  if (typeof body === 'string') return { 'content-length': String(Buffer.byteLength(body)) };
  if (body instanceof ArrayBuffer) return { 'content-length': String(body.byteLength) };
  return { 'transfer-encoding': 'chunked' };
}

async function write(body: Body, sent: ReturnType<typeof httpRequest>): Promise<void> {
  if (body === null) sent.end();
  else if (typeof body === 'string') sent.end(body);
  else if (body instanceof ArrayBuffer) sent.end(new Uint8Array(body));
  else await pipeline(Readable.fromWeb(body as NodeReadableStream), sent);
}

function toResponse(answer: IncomingMessage, method: string): Response {
  const status = answer.statusCode ?? 502;
  const headers = new Headers();
  for (let index = 0; index < answer.rawHeaders.length; index += 2) {
    const name = answer.rawHeaders[index] as string;
    if (!isHopByHop(name.toLowerCase())) headers.append(name, answer.rawHeaders[index + 1] as string);
  }
  if (method === 'HEAD' || WITHOUT_BODY.has(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(answer) as unknown as globalThis.ReadableStream, { status, headers });
}

/** Makes SDK clients without a URL send their requests to this deployment, over the loopback socket. */
export function bindLoopback(loopback: Loopback, address: string | undefined): LoopbackClient {
  const client = new LoopbackClient(loopback, address);
  const shared = globalThis as Record<symbol, unknown>;
  shared[Symbol.for('langgraph_api:fetch')] = client.fetch;
  shared[Symbol.for('langgraph_api:url')] = client.address;
  return client;
}
