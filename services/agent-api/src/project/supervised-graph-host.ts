import type { GraphHost } from '@runyard/host-client';
import { GraphRequestError, type HostLog } from '@runyard/host-protocol';
import { type Logger, UnavailableError } from '@runyard/service-kit';

/** Gives the running host to those who serve the project's app from it. */
export interface AppHostProvider {
  /** @throws UnavailableError */
  requireRunning(): Promise<Pick<GraphHost, 'serveApp'>>;
}

type StateHost = Pick<GraphHost, 'getState' | 'getHistory' | 'updateState'>;

export interface SupervisedGraphHostOptions {
  /** Starts a host; `onExit` is called when its process ends unasked. */
  start(onExit: (reason: string) => void): Promise<GraphHost>;
  /** Milliseconds without an answer after which a host is killed and its requests fail. */
  unresponsiveAfterMs: number;
  /** Default 1 s. */
  pingEveryMs?: number;
  /** Milliseconds after which an unanswered request fails, although the host answers others. Default 5 min. */
  answerMs?: number;
  logger: Logger;
}

/** Longer than reading the longest history takes; project code that never returns ends nowhere else. */
const ANSWER_MS = 5 * 60_000;

/**
 * Supervises the graph host that serves reads and updates of state. When its process ends, or becomes unresponsive, the
 * next request starts another: a graph whose code brings a process down costs that request, not the service.
 */
export class SupervisedGraphHost implements StateHost, AppHostProvider {
  readonly #options: SupervisedGraphHostOptions;
  #host: Promise<GraphHost> | undefined;
  /** True when the current host has started. */
  #isUp = false;
  #isClosed = false;
  #libraries: Readonly<Record<string, string>> = {};
  #pinging: NodeJS.Timeout | undefined;

  constructor(options: SupervisedGraphHostOptions) {
    this.#options = options;
  }

  /** @throws GraphLoadError when the project does not load */
  async start(): Promise<void> {
    await this.#current();
  }

  async getState(...args: Parameters<GraphHost['getState']>): ReturnType<GraphHost['getState']> {
    return this.#ask((host) => host.getState(...args));
  }

  async getHistory(...args: Parameters<GraphHost['getHistory']>): ReturnType<GraphHost['getHistory']> {
    return this.#ask((host) => host.getHistory(...args));
  }

  async updateState(...args: Parameters<GraphHost['updateState']>): ReturnType<GraphHost['updateState']> {
    return this.#ask((host) => host.updateState(...args));
  }

  async embed(...args: Parameters<GraphHost['embed']>): ReturnType<GraphHost['embed']> {
    return this.#ask((host) => host.embed(...args));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#pinging);
    const host = await this.#host?.catch(() => undefined);
    await host?.close();
  }

  /** `ok`, or why there is no host right now. */
  get state(): 'ok' | 'starting' | 'ended' {
    if (!this.#host) return 'ended';
    return this.#isUp ? 'ok' : 'starting';
  }

  /** The releases of the libraries of the host that started last, by their names; empty before. */
  get libraries(): Readonly<Record<string, string>> {
    return this.#libraries;
  }

  async requireRunning(): Promise<GraphHost> {
    try {
      return await this.#current();
    } catch (cause) {
      throw new UnavailableError('The project cannot be loaded at the moment', {
        code: 'project_not_loaded',
        cause,
        retryAfterSeconds: 5,
      });
    }
  }

  async #ask<T>(question: (host: GraphHost) => Promise<T>): Promise<T> {
    const host = await this.requireRunning();
    const { answerMs = ANSWER_MS } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const internal = { answerMs };
      timer = setTimeout(
        () => reject(new UnavailableError('The project did not answer', { code: 'project_unresponsive', internal })),
        answerMs,
      );
    });
    try {
      return await Promise.race([question(host), late]);
    } catch (error) {
      if (!(error instanceof GraphRequestError) || error.reason !== 'gone') throw error;
      throw new UnavailableError('The project did not answer', { code: 'project_unresponsive', cause: error });
    } finally {
      clearTimeout(timer);
    }
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

  #current(): Promise<GraphHost> {
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
        this.#libraries = host.libraries;
        this.#watch(host, starting);
      },
      () => this.#forget(starting),
    );
    return starting;
  }

  #forget(host: Promise<GraphHost>): void {
    if (this.#host === host) this.#host = undefined;
  }
}

/** Returns a function that logs what the project's code prints. */
export function logOfProject(logger: Logger): (line: HostLog) => void {
  const log = logger.child({ source: 'project' });
  return ({ level, message, ...fields }) => log[level](message, fields);
}
