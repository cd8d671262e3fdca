import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import { findHalt, type Halt } from '../halts/halt.ts';
import { HaltedError, haltMessage } from '../halts/halted-error.ts';
import type { RunEvents } from '../run-events.ts';
import { requestCancel } from './cancel-runs.ts';
import type { CancelledRun } from './types.ts';

export interface HaltsOptions {
  pool: pg.Pool;
  write: EngineWrites['write'];
  events: RunEvents;
}

/**
 * Enforces the halt of a deployment. Creating, claiming and firing read it in statements that they send anyway, so that
 * it holds from its commit on, whoever is connected. What runs, or was created in the same moment, is cancelled here.
 */
export class Halts {
  readonly #options: HaltsOptions;

  constructor(options: HaltsOptions) {
    this.#options = options;
  }

  /** Returns the halt in force; undefined when there is none. */
  find(): Promise<Halt | undefined> {
    return findHalt(this.#options.pool);
  }

  /** @throws HaltedError while the deployment is halted */
  async refuseWhileHalted(): Promise<void> {
    const halt = await this.find();
    if (halt) throw new HaltedError(halt.reason);
  }

  /**
   * Orders the cancel of the running runs of a halted deployment, and of waiting ones where the halt says so, in steps
   * of bounded size. Some process must call it every second. The caller notifies workers and watchers. Runs that have
   * their order are left alone, so that there is nothing to do once all have it.
   */
  async enforce(): Promise<{ halt: Halt | undefined; cancelled: CancelledRun[] }> {
    const { pool, write, events } = this.#options;
    const halt = await this.find();
    if (!halt) return { halt, cancelled: [] };
    const selection = { status: halt.cancelsQueued ? ('all' as const) : ('running' as const) };
    const request = { selection, action: 'interrupt' as const, reason: haltMessage(halt.reason) };
    const cancelled = await requestCancel(pool, request, write, events);
    if (cancelled.length > 0) {
      await pool.query('UPDATE deployment SET halt_cancelled_runs = halt_cancelled_runs + $1', [cancelled.length]);
    }
    return { halt, cancelled };
  }
}
