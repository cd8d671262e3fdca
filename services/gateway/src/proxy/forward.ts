import type { IncomingMessage, ServerResponse } from 'node:http';
import { breakOff, ClientGoneError } from '@runyard/service-kit';
import type { Dispatcher } from 'undici';
import type { RequestBody } from '../limits/request-body.ts';
import { responseHeaders } from './headers.ts';
import { neverConnected } from './upstream-error.ts';

export interface Forwarding {
  dispatcher: Dispatcher;
  /** Base URLs, in the order to be tried. */
  upstreams: readonly string[];
  /** Path and query. */
  target: string;
  headers: string[];
  body: RequestBody;
  requestId: string;
  /** Asked when the answer begins: is this the last one on its connection. */
  isLast(): boolean;
}

/**
 * Passes a request on and its answer back, byte for byte as they come. Resolves when the answer is out or has broken off;
 * rejects when there was none. A client that leaves takes the upstream's request with it, and an upstream that dies in
 * the middle cuts the client's connection, so that half an answer never looks like a whole one.
 */
export async function forward(req: IncomingMessage, res: ServerResponse, forwarding: Forwarding): Promise<void> {
  const { upstreams, body } = forwarding;
  for (const [index, upstream] of upstreams.entries()) {
    try {
      await exchange(req, res, upstream, forwarding);
      return;
    } catch (error) {
      const sendable = body.kind !== 'stream' || !body.isStarted();
      if (index === upstreams.length - 1 || !sendable || !neverConnected(error)) throw error;
    }
  }
}

function exchange(req: IncomingMessage, res: ServerResponse, upstream: string, forwarding: Forwarding): Promise<void> {
  const { dispatcher, target, headers, body } = forwarding;
  const base = new URL(upstream);
  return new Promise((resolve, reject) => {
    const relay = new AnswerRelay(res, forwarding, resolve, reject);
    dispatcher.dispatch(
      {
        origin: base.origin,
        path: base.pathname === '/' ? target : base.pathname.replace(/\/$/, '') + target,
        method: req.method as Dispatcher.HttpMethod,
        headers:
          body.kind === 'stream' && body.length !== undefined ? [...headers, 'content-length', body.length] : headers,
        body: body.kind === 'none' ? null : body.kind === 'whole' ? body.bytes : (body.chunks as unknown as Buffer),
        // How long a run takes is for the run to say.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      relay,
    );
  });
}

/** Receives the upstream's answer and hands it to the client at the client's pace. */
class AnswerRelay implements Dispatcher.DispatchHandler {
  readonly #res: ServerResponse;
  readonly #forwarding: Forwarding;
  readonly #resolve: () => void;
  readonly #reject: (error: Error) => void;
  readonly #onClientClosed: () => void;
  #abort: (error?: Error) => void = () => {};
  #resume: () => void = () => {};
  #settled = false;

  constructor(res: ServerResponse, forwarding: Forwarding, resolve: () => void, reject: (error: Error) => void) {
    this.#res = res;
    this.#forwarding = forwarding;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#onClientClosed = () => {
      if (!this.#settled) this.#abort(new ClientGoneError());
    };
    res.on('close', this.#onClientClosed);
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    if (this.#res.destroyed || this.#res.closed) abort(new ClientGoneError());
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void, statusText: string): boolean {
    if (status < 200) return true;
    const { requestId, isLast } = this.#forwarding;
    const { list, announcesLength } = responseHeaders(raw, requestId, isLast());
    this.#res.writeHead(status, statusText, list as unknown as Record<string, string>);
    // A stream's headers must not wait for its first event; with a length given the body is right behind.
    if (!announcesLength) this.#res.flushHeaders();
    this.#resume = resume;
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#res.write(chunk)) return true;
    this.#res.once('drain', this.#resume);
    return false;
  }

  onComplete(): void {
    this.#settle();
    this.#res.end();
    this.#resolve();
  }

  onError(error: Error): void {
    if (this.#settled) return;
    this.#settle();
    if (this.#res.headersSent) {
      breakOff(this.#res);
      this.#resolve();
    } else this.#reject(error);
  }

  #settle(): void {
    this.#settled = true;
    this.#res.off('close', this.#onClientClosed);
  }
}
