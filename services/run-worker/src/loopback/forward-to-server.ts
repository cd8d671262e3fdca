import {
  Agent,
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { framingOf, isHopByHop } from '@runyard/contracts/hop-by-hop';
import { LOOPBACK_HEADER, type Loopback, RUN_HEADER } from '@runyard/host-protocol';
import type { ApiServer } from '@runyard/run-engine';
import { isResponsive, type Logger } from '@runyard/service-kit';
import type { WaitingRuns } from './waiting-runs.ts';

/** A process of the deployment's agent-api, or its socket for the project's code where it is in this process. */
type Server = Pick<ApiServer, 'url' | 'token'> | Loopback;

export interface ForwardingOptions {
  /** Finds any live one. */
  findServer(): Promise<Server | undefined>;
  /** Records each request that a run makes. */
  waiting?: Pick<WaitingRuns, 'begin'>;
  logger: Logger;
  /** Milliseconds without a byte after which the server is probed. Default 7 s. */
  unresponsiveMs?: number;
}

/** Milliseconds that a server is reused after it was found, unless it does not answer. */
const SERVER_CACHE_MS = 5_000;
/** An idle connection is kept for less time than a stopping server still takes requests. */
const IDLE_MS = 2_000;
/** Longer than the time between heartbeats of long answers. */
const UNRESPONSIVE_MS = 7_000;
const ANSWER_MS = 3_000;

/**
 * Forwards requests of the project's code to the deployment's own server. It adds the credentials here, so that the
 * code never has them.
 */
export class ServerForwarder {
  readonly #options: ForwardingOptions;
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  #cachedServer: { server: Server; until: number } | undefined;

  constructor(options: ForwardingOptions) {
    this.#options = options;
  }

  readonly onRequest: RequestListener = (req, res) => {
    this.#forward(req, res).catch((error: unknown) => {
      this.#cachedServer = undefined;
      if (res.headersSent) {
        res.destroy();
        return;
      }
      this.#options.logger.warn('loopback request failed', { error });
      const body = JSON.stringify({ detail: 'The server of the deployment is not reachable at the moment' });
      res.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' }).end(body);
    });
  };

  close(): void {
    this.#agent.destroy();
  }

  async #forward(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const runId = req.headers[RUN_HEADER];
    delete req.headers[RUN_HEADER];
    const tracked = typeof runId === 'string' ? this.#options.waiting?.begin(runId, req.url ?? '') : undefined;
    try {
      await this.#proxy(req, res, (path) => tracked?.setLocation(path));
    } finally {
      tracked?.end();
    }
  }

  async #proxy(
    req: IncomingMessage,
    res: ServerResponse,
    onLocation: (path: string | undefined) => void,
  ): Promise<void> {
    const server = await this.#server();
    await new Promise<void>((resolve, reject) => {
      const options = {
        agent: this.#agent,
        method: req.method,
        headers: { ...endToEnd(req.headers), ...framingOf(req.headers), [LOOPBACK_HEADER]: server.token },
      };
      const sent =
        'url' in server
          ? httpRequest(server.url + req.url, options)
          : httpRequest({ ...options, socketPath: server.socketPath, path: req.url });
      sent.once('response', (answer) => {
        onLocation(answer.headers['content-location']);
        res.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
        res.flushHeaders();
        answer.once('error', reject);
        answer.pipe(res);
        answer.once('end', resolve);
      });
      sent.once('error', reject);
      if ('url' in server) this.#probeUnresponsive(sent, server.url);
      res.once('close', () => {
        sent.destroy();
        resolve();
      });
      req.pipe(sent);
    });
  }

  /** Probes an unresponsive server: an answer may take any time, and a partition gives no error. */
  #probeUnresponsive(sent: ClientRequest, url: string): void {
    const { unresponsiveMs = UNRESPONSIVE_MS } = this.#options;
    sent.setTimeout(unresponsiveMs);
    sent.on('timeout', async () => {
      if (await isResponsive(url, Math.min(ANSWER_MS, unresponsiveMs))) sent.setTimeout(unresponsiveMs);
      else sent.destroy(new Error('the server is unresponsive'));
    });
  }

  async #server(): Promise<Server> {
    const now = performance.now();
    if (this.#cachedServer && this.#cachedServer.until > now) return this.#cachedServer.server;
    const server = await this.#options.findServer();
    if (!server) throw new Error('no agent-api of the deployment is running');
    this.#cachedServer = { server, until: now + SERVER_CACHE_MS };
    return server;
  }
}

function endToEnd(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  const entries = Object.entries(headers).filter(
    (entry): entry is [string, string | string[]] => entry[1] !== undefined && !isHopByHop(entry[0]),
  );
  return Object.fromEntries(entries);
}
