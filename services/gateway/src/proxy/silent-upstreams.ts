import { lives } from '@runyard/service-kit';
import type { Dispatcher } from 'undici';

export interface SilentUpstreamsOptions {
  /** Milliseconds without a byte after which an exchange's upstream is probed. */
  silentMs: number;
}

/** Nothing came for too long, and the upstream does not answer another connection either. */
export class SilentUpstreamError extends Error {
  override readonly name = 'SilentUpstreamError';
}

/** The longest time for the answer to a probe. */
const ANSWER_MS = 3_000;

/**
 * Breaks off exchanges with unresponsive upstreams. An answer may take any time, and a partition gives no error: so
 * silent upstreams are probed over a new connection.
 */
export class SilentUpstreams {
  readonly #silentMs: number;
  readonly #open = new Set<Exchange>();
  readonly #asking = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ silentMs }: SilentUpstreamsOptions) {
    this.#silentMs = silentMs;
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), this.#silentMs / 4);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Wraps the handler to record when the upstream was last heard. */
  watch(upstream: string, handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
    const exchange = new Exchange(upstream, handler, () => this.#open.delete(exchange));
    this.#open.add(exchange);
    return exchange;
  }

  #look(): void {
    for (const { upstream, silence } of this.#open) {
      if (silence < this.#silentMs || this.#asking.has(upstream)) continue;
      this.#asking.add(upstream);
      void lives(upstream, Math.min(ANSWER_MS, this.#silentMs)).then((isAlive) => {
        this.#asking.delete(upstream);
        if (!isAlive) this.#breakOff(upstream);
      });
    }
  }

  #breakOff(upstream: string): void {
    for (const exchange of this.#open) {
      if (exchange.upstream === upstream && exchange.silence >= this.#silentMs) exchange.breakOff();
    }
  }
}

/** One request and its answer, as they come from the upstream. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly upstream: string;
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #onOver: () => void;
  #abort: (error?: Error) => void = () => undefined;
  #heardAt = performance.now();
  /** True when nothing is read because the client is slow. */
  #isHeldBack = false;

  constructor(upstream: string, handler: Dispatcher.DispatchHandler, onOver: () => void) {
    this.upstream = upstream;
    this.#handler = handler;
    this.#onOver = onOver;
  }

  /** Milliseconds since the upstream was last heard. */
  get silence(): number {
    return this.#isHeldBack ? 0 : performance.now() - this.#heardAt;
  }

  breakOff(): void {
    this.#abort(new SilentUpstreamError('the upstream fell silent'));
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    this.#hear();
    this.#handler.onConnect?.(abort);
  }

  onBodySent(): void {
    this.#hear();
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean {
    this.#hear();
    const goOn = () => {
      this.#hear();
      resume();
    };
    return this.#handler.onHeaders?.(status, headers, goOn, statusText) ?? true;
  }

  onData(chunk: Buffer): boolean {
    this.#hear();
    this.#isHeldBack = this.#handler.onData?.(chunk) === false;
    return !this.#isHeldBack;
  }

  onComplete(trailers: string[] | null): void {
    this.#onOver();
    this.#handler.onComplete?.(trailers);
  }

  onError(error: Error): void {
    this.#onOver();
    this.#handler.onError?.(error);
  }

  #hear(): void {
    this.#heardAt = performance.now();
    this.#isHeldBack = false;
  }
}
