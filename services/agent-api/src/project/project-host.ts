import type { GraphHost } from '@runyard/host-client';
import { GraphRequestError } from '@runyard/host-protocol';
import { UnavailableError } from '@runyard/service-kit';

/** Gives the running host to those who serve the project's app from it. */
export interface AppHostProvider {
  /** @throws UnavailableError */
  requireRunning(): Promise<Pick<GraphHost, 'serveApp'>>;
}

type StateHost = Pick<GraphHost, 'getState' | 'getHistory' | 'updateState'>;

/** Keeps a graph host for a server. */
export interface HostKeeper {
  /** `ok`, or why there is no host right now. */
  readonly state: 'ok' | 'starting' | 'ended';
  /** Resolves when the host has started. @throws GraphLoadError when the project does not load */
  start(): Promise<GraphHost>;
  /** Returns the host, as soon as there is one. */
  current(): Promise<GraphHost>;
  close(): Promise<void>;
}

/** Longer than reading the longest history takes; project code that never returns ends nowhere else. */
const ANSWER_MS = 5 * 60_000;

/** The graph host as a server asks it: reads and updates of state, and what else the project's code answers. */
export class ProjectHost implements StateHost, AppHostProvider {
  readonly #keeper: HostKeeper;
  readonly #answerMs: number;
  #libraries: Readonly<Record<string, string>> = {};

  /** @param options.answerMs milliseconds after which an unanswered request fails, although the host answers others */
  constructor(keeper: HostKeeper, { answerMs = ANSWER_MS }: { answerMs?: number } = {}) {
    this.#keeper = keeper;
    this.#answerMs = answerMs;
  }

  /** @throws GraphLoadError when the project does not load */
  async start(): Promise<void> {
    this.#libraries = (await this.#keeper.start()).libraries;
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

  close(): Promise<void> {
    return this.#keeper.close();
  }

  get state(): HostKeeper['state'] {
    return this.#keeper.state;
  }

  /** The releases of the libraries of the first host, by their names; empty before it has started. */
  get libraries(): Readonly<Record<string, string>> {
    return this.#libraries;
  }

  async requireRunning(): Promise<GraphHost> {
    try {
      return await this.#keeper.current();
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
    const answerMs = this.#answerMs;
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
}
