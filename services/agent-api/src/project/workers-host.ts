import { withDeadline } from '@runyard/deadline';
import type { GraphHost, SharedHost } from '@runyard/host-client';
import type { Lifecycle } from '@runyard/service-kit';
import type { HostKeeper } from './project-host.ts';

/** Milliseconds that a request waits while the worker replaces its host: as long as a project may take to load. */
const REPLACED_MS = 60_000;

/** The graph host of the worker in this process, which starts and replaces it. */
export class WorkersHost implements HostKeeper {
  readonly #shared: SharedHost;
  readonly #stopping: AbortSignal;

  constructor(shared: SharedHost, { stopping }: Pick<Lifecycle, 'stopping'>) {
    this.#shared = shared;
    this.#stopping = stopping;
  }

  get state(): HostKeeper['state'] {
    return this.#shared.host ? 'ok' : 'starting';
  }

  start(): Promise<GraphHost> {
    return this.#shared.current(this.#stopping);
  }

  async current(): Promise<GraphHost> {
    return this.#shared.host ?? withDeadline(this.#stopping, REPLACED_MS, (signal) => this.#shared.current(signal));
  }

  close(): Promise<void> {
    return this.#shared.close();
  }
}
