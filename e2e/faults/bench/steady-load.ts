import { setTimeout as pause } from 'node:timers/promises';
import type { BenchDeployment, BenchRun } from './deployment.ts';
import type { LedgerInput } from './ledger.ts';

export interface SteadyLoadOptions {
  /** Milliseconds between two requests. A slow request does not delay the others. */
  everyMs: number;
  input: LedgerInput;
  /** The index of the agent-api; default the first. */
  at?: number;
}

/** Creates short runs, one after another, until it is stopped, whatever happens to the servers meanwhile. */
export class SteadyLoad {
  /** Runs that a client knows to be accepted. */
  readonly accepted: BenchRun[] = [];
  readonly #stopping = new AbortController();
  readonly #asking = new Set<Promise<void>>();
  readonly #running: Promise<void>;

  constructor(deployment: BenchDeployment, options: SteadyLoadOptions) {
    this.#running = this.#run(deployment, options);
  }

  /** Resolves when the last request is answered. */
  async stop(): Promise<BenchRun[]> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all(this.#asking);
    return this.accepted;
  }

  async #run(deployment: BenchDeployment, { everyMs, input, at = 0 }: SteadyLoadOptions): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const asked = deployment.createRun(input, { at }).then((run) => {
        this.#asking.delete(asked);
        if (run) this.accepted.push(run);
      });
      this.#asking.add(asked);
      await pause(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
