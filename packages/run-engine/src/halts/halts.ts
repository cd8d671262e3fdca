import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import type { RunEvents } from '../run-events.ts';
import { requestCancel } from '../runs/cancel-runs.ts';
import type { CancelledRun } from '../runs/types.ts';
import { HaltedError, haltMessage } from './halted-error.ts';

/** The kill switch of a deployment, as its data plane has set it. */
export interface Halt {
  /** Why, in words for clients. */
  reason: string;
  /** True when runs that wait are cancelled too; false when they wait until the deployment is resumed. */
  cancelsQueued: boolean;
}

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

/** Returns the error for creations that met a halt. The reason is empty when it was resumed since. */
export async function haltedError(client: pg.ClientBase): Promise<HaltedError> {
  return new HaltedError((await findHalt(client))?.reason ?? 'it is being resumed');
}

async function findHalt(db: Pick<pg.ClientBase, 'query'>): Promise<Halt | undefined> {
  const { rows } = await db.query<{ halt_reason: string; halt_cancels_queued: boolean }>({
    name: 'engine_find_halt',
    text: 'SELECT halt_reason, halt_cancels_queued FROM deployment WHERE halt_reason IS NOT NULL',
  });
  const [row] = rows;
  return row && { reason: row.halt_reason, cancelsQueued: row.halt_cancels_queued };
}
