import { withDeadline } from '@runyard/deadline';
import type { GraphHost, SharedHost } from '@runyard/host-client';
import type { Lifecycle } from '@runyard/service-kit';
import type { HostKeeper } from './project-host.ts';

/** Milliseconds that a request waits while the worker replaces its host. */
const REPLACED_MS = 10_000;

/** The graph host of the worker in this process, which starts, replaces and closes it. */
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

  /** Resolves when the worker takes runs, too: both are ready at once. */
  async start(): Promise<GraphHost> {
    await this.#shared.started(this.#stopping);
    return this.current();
  }

  async current(): Promise<GraphHost> {
    return this.#shared.host ?? withDeadline(this.#stopping, REPLACED_MS, (signal) => this.#shared.current(signal));
  }

  async close(): Promise<void> {}
}
