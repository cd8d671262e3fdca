import type { GraphHost } from '@runyard/host-client';
import type { Logger } from '@runyard/service-kit';
import type { HostKeeper } from './project-host.ts';

export interface SupervisedGraphHostOptions {
  /** Starts a host; `onExit` is called when its process ends unasked. */
  start(onExit: (reason: string) => void): Promise<GraphHost>;
  /** Milliseconds without an answer after which a host is killed and its requests fail. */
  unresponsiveAfterMs: number;
  /** Default 1 s. */
  pingEveryMs?: number;
  logger: Logger;
}

/**
 * Supervises the graph host that serves reads and updates of state. When its process ends, or becomes unresponsive, the
 * next request starts another: a graph whose code brings a process down costs that request, not the service.
 */
export class SupervisedGraphHost implements HostKeeper {
  readonly #options: SupervisedGraphHostOptions;
  #host: Promise<GraphHost> | undefined;
  /** True when the current host has started. */
  #isUp = false;
  #isClosed = false;
  #pinging: NodeJS.Timeout | undefined;

  constructor(options: SupervisedGraphHostOptions) {
    this.#options = options;
  }

  start(): Promise<GraphHost> {
    return this.current();
  }

  current(): Promise<GraphHost> {
    if (this.#host) return this.#host;
    if (this.#isClosed) return Promise.reject(new Error('The service is stopping.'));
    const starting = this.#options.start((reason) => {
      this.#options.logger.error('graph host exited, the next request starts another', { reason });
      this.#forget(starting);
    });
    this.#host = starting;
    this.#isUp = false;
    starting.then(
      (host) => {
        if (this.#host !== starting || this.#isClosed) return;
        this.#isUp = true;
        this.#watch(host, starting);
      },
      () => this.#forget(starting),
    );
    return starting;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#pinging);
    const host = await this.#host?.catch(() => undefined);
    await host?.close();
  }

  get state(): 'ok' | 'starting' | 'ended' {
    if (!this.#host) return 'ended';
    return this.#isUp ? 'ok' : 'starting';
  }

  /**
   * Kills a host that misses its pings. It counts pings, not time, so that a pause of this process is not charged to
   * the host.
   */
  #watch(host: GraphHost, starting: Promise<GraphHost>): void {
    const { unresponsiveAfterMs, pingEveryMs = 1_000, logger } = this.#options;
    let unanswered = 0;
    let isWaiting = false;
    clearInterval(this.#pinging);
    this.#pinging = setInterval(() => {
      if (isWaiting) unanswered += 1;
      else {
        isWaiting = true;
        const answered = () => {
          isWaiting = false;
          unanswered = 0;
        };
        host.ping().then(answered, answered);
      }
      if (unanswered * pingEveryMs < unresponsiveAfterMs) return;
      clearInterval(this.#pinging);
      logger.error('graph host unresponsive, killing it', { unresponsiveAfterMs });
      this.#forget(starting);
      void host.kill();
    }, pingEveryMs);
    this.#pinging.unref();
  }

  #forget(host: Promise<GraphHost>): void {
    if (this.#host === host) this.#host = undefined;
  }
}
