import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import { type FiringParts, fireCrons, millisecondsToNextSlot } from './fire-crons.ts';
import type { FireCrons, FiredSlot } from './types.ts';
import { wakeCrons } from './wake-crons.ts';

export interface CronFiringOptions extends FiringParts {
  pool: pg.Pool;
  writes: Pick<EngineWrites, 'tell'>;
}

/** Makes the runs that crons ask for. */
export class CronFiring {
  readonly #options: CronFiringOptions;

  constructor(options: CronFiringOptions) {
    this.#options = options;
  }

  /** Fires crons whose slot has come, each slot once whoever else does so. Wake workers for the runs made. Empty: none is due. */
  fire(options: FireCrons): Promise<FiredSlot[]> {
    const { pool, writes, ...parts } = this.#options;
    // A run of a cron may have taken the place of one that somebody is to be told of.
    return fireCrons(pool, options, parts).finally(() => writes.tell({ hasWebhooks: true }));
  }

  /** Crons that a process of the release before has put to rest go on; answers how many. */
  wake(): Promise<number> {
    return wakeCrons(this.#options.pool);
  }

  /** Milliseconds until the next slot of crons of these graphs, by the database's clock; undefined when there is none. */
  millisecondsToNextSlot(graphIds: readonly string[]): Promise<number | undefined> {
    return millisecondsToNextSlot(this.#options.pool, graphIds);
  }
}
