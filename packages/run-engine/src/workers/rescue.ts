import type pg from 'pg';
import { findStatesBehind, type StateBehind } from '../threads/states-behind.ts';
import { findStuckThreads, mendThreads } from './stuck-threads.ts';
import { type LapsedWorkersOptions, takeRunsOfLapsedWorkers } from './take-runs.ts';
import type { SweptRun } from './types.ts';

export interface RescueOptions extends LapsedWorkersOptions {
  pool: pg.Pool;
}

/** Repairs that need no worker, for processes that outlive workers. */
export class Rescue {
  readonly #options: RescueOptions;

  constructor(options: RescueOptions) {
    this.#options = options;
  }

  /** Ends cancelled runs of lost or unresponsive workers; other runs of such workers are left for execution. */
  async endCancelled(): Promise<SweptRun[]> {
    const { pool, ...options } = this.#options;
    return (await takeRunsOfLapsedWorkers(pool, { ...options, cancelledOnly: true })).ended;
  }

  /** Returns some threads whose stored values are older than their newest checkpoint and must be read again. */
  findStatesBehind(): Promise<StateBehind[]> {
    return findStatesBehind(this.#options.pool);
  }

  /**
   * Frees threads that nothing would ever free: the cause of their being busy no longer exists. Every transaction keeps
   * threads and their runs consistent, so there is nothing to find unless rows were changed by hand. Returns the
   * repaired threads.
   */
  async mendThreads(): Promise<string[]> {
    const found = await findStuckThreads(this.#options.pool);
    if (found.length === 0) return [];
    return this.#options.write((client) => mendThreads(client, found));
  }
}
