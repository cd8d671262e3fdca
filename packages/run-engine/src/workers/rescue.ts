import type { DataCipher } from '@runyard/encryption';
import type pg from 'pg';
import { findOutdatedStates, type OutdatedState } from '../threads/outdated-states.ts';
import { repairThreads, StuckThreadSearch } from './stuck-threads.ts';
import { type TakeBackOptions, takeBackRuns } from './take-back-runs.ts';
import type { SweptRun } from './types.ts';

export interface RescueOptions extends TakeBackOptions {
  pool: pg.Pool;
  cipher: DataCipher;
}

/** Repairs that need no worker, for processes that outlive workers. */
export class Rescue {
  readonly #options: RescueOptions;
  readonly #stuck = new StuckThreadSearch();

  constructor(options: RescueOptions) {
    this.#options = options;
  }

  /**
   * Returns whether there may be anything for the other functions: one question to the database, which an idle
   * deployment asks in their place.
   */
  async hasWork(): Promise<boolean> {
    const { rows } = await this.#options.pool.query<{ found: boolean }>({
      name: 'engine_has_rescue_work',
      text: `SELECT EXISTS (SELECT 1 FROM run WHERE status = 'running' AND cancel_action IS NOT NULL)
               OR EXISTS (SELECT 1 FROM thread_state_behind WHERE look_at <= now())
               OR EXISTS (SELECT 1 FROM thread_removal) AS found`,
    });
    return rows[0]!.found;
  }

  /** Ends cancelled runs of lost or unresponsive workers; other runs of such workers are left for execution. */
  async endCancelled(): Promise<SweptRun[]> {
    const { pool, cipher: _, ...options } = this.#options;
    return (await takeBackRuns(pool, { ...options, cancelledOnly: true })).ended;
  }

  /** Returns some threads whose stored values are older than their newest checkpoint and must be read again. */
  findOutdatedStates(): Promise<OutdatedState[]> {
    return findOutdatedStates(this.#options.pool, this.#options.cipher);
  }

  /**
   * Frees threads that nothing would ever free: the cause of their being busy no longer exists. Every transaction keeps
   * threads and their runs consistent, so there is nothing to find unless rows were changed by hand. With thousands
   * of waiting runs each call looks at the next of them. Returns the repaired threads.
   */
  async repairThreads(): Promise<string[]> {
    const found = await this.#stuck.next(this.#options.pool);
    if (found.length === 0) return [];
    return this.#options.write((client) => repairThreads(client, found));
  }
}
