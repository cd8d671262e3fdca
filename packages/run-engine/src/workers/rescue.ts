import type pg from 'pg';
import { findStatesBehind, type StateBehind } from '../threads/states-behind.ts';
import { findStuckThreads, mendThreads } from './stuck-threads.ts';
import { type LapsedWorkersOptions, takeRunsOfLapsedWorkers } from './take-runs.ts';
import type { SweptRun } from './types.ts';

export interface RescueOptions extends LapsedWorkersOptions {
  pool: pg.Pool;
}

/** What needs no worker to be put right, for processes that outlive them. */
export class Rescue {
  readonly #options: RescueOptions;

  constructor(options: RescueOptions) {
    this.#options = options;
  }

  /** Ends runs as their cancel orders say whose workers are gone; others of such workers are left to be executed. */
  async endCancelled(): Promise<SweptRun[]> {
    const { pool, ...options } = this.#options;
    return (await takeRunsOfLapsedWorkers(pool, { ...options, cancelledOnly: true })).ended;
  }

  /** Threads whose stored values are older than their newest checkpoint, a few of them, to be read anew. */
  findStatesBehind(): Promise<StateBehind[]> {
    return findStatesBehind(this.#options.pool);
  }

  /**
   * Frees threads that nothing would ever free: what keeps them busy is gone. Every transaction leaves threads and their runs in
   * agreement, so there is nothing to find unless rows were changed by hand. Answers the threads that were mended.
   */
  async mendThreads(): Promise<string[]> {
    const found = await findStuckThreads(this.#options.pool);
    if (found.length === 0) return [];
    return this.#options.write((client) => mendThreads(client, found));
  }
}
