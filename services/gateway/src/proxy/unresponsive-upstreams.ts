import { isResponsive, type Logger, PeriodicTask } from '@runyard/service-kit';
import type { Dispatcher } from 'undici';

export interface UnresponsiveUpstreamsOptions {
  /** Milliseconds without a byte after which an exchange's upstream is probed. */
  probeAfterMs: number;
  logger: Logger;
}

/** Nothing came for too long, and the upstream does not answer another connection either. */
class UnresponsiveUpstreamError extends Error {
  override readonly name = 'UnresponsiveUpstreamError';
}

/** The longest time for the answer to a probe. */
const ANSWER_MS = 3_000;

/**
 * Breaks off exchanges with unresponsive upstreams. An answer may take any time, and a partition gives no error: so
 * an upstream that sends nothing is probed over a new connection.
 */
export class UnresponsiveUpstreams {
  readonly #probeAfterMs: number;
  readonly #open = new Set<Exchange>();
  readonly #probing = new Set<string>();
  readonly #task: PeriodicTask;

  constructor({ probeAfterMs, logger }: UnresponsiveUpstreamsOptions) {
    this.#probeAfterMs = probeAfterMs;
    const run = () => this.#probeIdle();
    this.#task = new PeriodicTask({ name: 'idle upstreams', everyMs: probeAfterMs / 4, run, logger });
  }

  start(): void {
    this.#task.start();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  /** Wraps the handler to record when the upstream was last heard. */
  watch(upstream: string, handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
    const exchange = new Exchange(upstream, handler, () => this.#open.delete(exchange));
    this.#open.add(exchange);
    return exchange;
  }

  #probeIdle(): void {
    for (const { upstream, idleMs } of this.#open) {
      if (idleMs < this.#probeAfterMs || this.#probing.has(upstream)) continue;
      this.#probing.add(upstream);
      void isResponsive(upstream, Math.min(ANSWER_MS, this.#probeAfterMs)).then((isAlive) => {
        this.#probing.delete(upstream);
        if (!isAlive) this.#breakOff(upstream);
      });
    }
  }

  #breakOff(upstream: string): void {
    for (const exchange of this.#open) {
      if (exchange.upstream === upstream && exchange.idleMs >= this.#probeAfterMs) exchange.breakOff();
    }
  }
}

/** One request and its answer, as they come from the upstream. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly upstream: string;
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #onEnded: () => void;
  #abort: (error?: Error) => void = () => undefined;
  #lastByteAt = performance.now();
  /** True when nothing is read because the client is slow. */
  #isHeldBack = false;

  constructor(upstream: string, handler: Dispatcher.DispatchHandler, onEnded: () => void) {
    this.upstream = upstream;
    this.#handler = handler;
    this.#onEnded = onEnded;
  }

  /** Milliseconds since the upstream was last heard. */
  get idleMs(): number {
    return this.#isHeldBack ? 0 : performance.now() - this.#lastByteAt;
  }

  breakOff(): void {
    this.#abort(new UnresponsiveUpstreamError('the upstream is unresponsive'));
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    this.#noteByte();
    this.#handler.onConnect?.(abort);
  }

  onBodySent(): void {
    this.#noteByte();
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void, statusText: string): boolean {
    this.#noteByte();
    const resumeReading = () => {
      this.#noteByte();
      resume();
    };
    return this.#handler.onHeaders?.(status, headers, resumeReading, statusText) ?? true;
  }

  onData(chunk: Buffer): boolean {
    this.#noteByte();
    this.#isHeldBack = this.#handler.onData?.(chunk) === false;
    return !this.#isHeldBack;
  }

  onComplete(trailers: string[] | null): void {
    this.#onEnded();
    this.#handler.onComplete?.(trailers);
  }

  onError(error: Error): void {
    this.#onEnded();
    this.#handler.onError?.(error);
  }

  #noteByte(): void {
    this.#lastByteAt = performance.now();
    this.#isHeldBack = false;
  }
}
