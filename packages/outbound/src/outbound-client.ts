import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { withDeadline } from '@runyard/deadline';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { createCheckedLookup, type Lookup } from './checked-lookup.ts';
import { OutboundRefusedError } from './errors.ts';
import type { OutboundPolicy } from './outbound-policy.ts';
import { systemLookup } from './system-lookup.ts';

export interface OutboundRequest {
  method: Dispatcher.HttpMethod;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Milliseconds from the name's resolution to the end of the answer. */
  timeoutMs: number;
  /** Maximum bytes of the answer's body that are read. Default: none of it. */
  maxBodyBytes?: number;
  signal?: AbortSignal;
}

export interface OutboundResponse {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  body: Buffer;
}

export interface DownloadOptions {
  headers?: Record<string, string>;
  /** Milliseconds without data after which the answer fails. */
  idleMs: number;
  signal: AbortSignal;
}

/** An answer of any size, read as it comes. */
export interface OutboundStreamResponse extends Omit<OutboundResponse, 'body'> {
  /** The body must be read to its end, or discarded, because it holds a connection. */
  body: Readable;
  discard(): void;
}

/**
 * Sends requests to addresses that callers chose, if the policy permits them. The URL is checked before each request
 * and the address when it is connected to. Redirects are returned and not followed. No proxy is used.
 */
export class OutboundClient {
  readonly #policy: OutboundPolicy;
  readonly #agent: Agent;

  constructor(policy: OutboundPolicy, options: { lookup?: Lookup; connectTimeoutMs?: number } = {}) {
    this.#policy = policy;
    const connect = buildConnector({
      lookup: createCheckedLookup(policy, options.lookup ?? systemLookup),
      timeout: options.connectTimeoutMs ?? 10_000,
    });
    this.#agent = new Agent({
      connect: (target, callback) => {
        // The socket does not look up an address, so it is checked here.
        const host = target.hostname.replace(/^\[|\]$/g, '');
        try {
          if (isIP(host)) this.#policy.checkAddress(host);
        } catch (refusal) {
          return callback(refusal as Error, null);
        }
        return connect(target, callback);
      },
      // Connections are short-lived: names are resolved again soon, and removed receivers are noticed.
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 30_000,
      maxHeaderSize: 16_384,
      pipelining: 1,
    });
  }

  /** @throws OutboundRefusedError, and errors of `fetch` on network failures; `TimeoutError` after `timeoutMs`. */
  async request(url: string, request: OutboundRequest): Promise<OutboundResponse> {
    const target = this.#policy.checkUrl(url);
    try {
      return await withDeadline(request.signal, request.timeoutMs, async (signal) => {
        const response = await this.#agent.request({
          origin: target.origin,
          path: target.pathname + target.search,
          method: request.method,
          headers: request.headers ?? {},
          ...(request.body !== undefined && { body: request.body }),
          signal,
        });
        const body = await readUpTo(response.body, request.maxBodyBytes ?? 0, request.timeoutMs);
        return { status: response.statusCode, headers: response.headers, body };
      });
    } catch (error) {
      throw findRefusal(error) ?? error;
    }
  }

  /** Requests an answer that need not fit into memory. @throws like `request`, without its time limit */
  async download(url: string, { headers = {}, idleMs, signal }: DownloadOptions): Promise<OutboundStreamResponse> {
    const target = this.#policy.checkUrl(url);
    try {
      const response = await this.#agent.request({
        origin: target.origin,
        path: target.pathname + target.search,
        method: 'GET',
        headers,
        headersTimeout: idleMs,
        bodyTimeout: idleMs,
        signal,
      });
      const { statusCode: status, headers: answered, body } = response;
      return { status, headers: answered, body, discard: () => discard(body, idleMs) };
    } catch (error) {
      throw findRefusal(error) ?? error;
    }
  }

  /** Ends requests in flight. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

/**
 * Reads up to `maxBytes` and closes the connection on a long rest; a short rest is read to its end, so that the
 * connection can be used again.
 */
async function readUpTo(body: Dispatcher.ResponseData['body'], maxBytes: number, timeoutMs: number): Promise<Buffer> {
  if (maxBytes === 0) {
    discard(body, timeoutMs);
    return Buffer.alloc(0);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    // Leaving the loop destroys the body and with it the connection.
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

/** Reads the rest of a body that nobody needs, for a limited time, to free its connection. */
function discard(body: Dispatcher.ResponseData['body'], timeoutMs: number): void {
  withDeadline(undefined, timeoutMs, (signal) => body.dump({ limit: 16_384, signal })).catch(() => undefined);
}

/** Finds a refusal inside an error: of several addresses tried, or as a cause. */
function findRefusal(error: unknown): OutboundRefusedError | undefined {
  if (error instanceof OutboundRefusedError) return error;
  if (error instanceof AggregateError) return error.errors.map(findRefusal).find((found) => found !== undefined);
  return error instanceof Error && error.cause !== undefined ? findRefusal(error.cause) : undefined;
}
