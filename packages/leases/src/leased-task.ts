import { PeriodicTask, type PeriodicTaskOptions } from '@runyard/service-kit';
import type { Lease } from './lease.ts';

/** The lease of a task, which also names the task in log lines. */
export type TaskLease = Pick<Lease, 'name' | 'isMine' | 'release'>;

export interface LeasedTaskOptions extends Omit<PeriodicTaskOptions, 'name' | 'run'> {
  lease: TaskLease;
  /** Returns whether a round would find anything to do. A round that would not needs no lease. Default: always. */
  isNeeded?: () => Promise<boolean>;
  /** Runs one round. A long one checks `mayContinue` between its parts. */
  run: (task: LeasedTask) => Promise<unknown>;
}

/** Number of intervals after which another process takes over from a dead lease owner. */
const INTERVALS_PER_LEASE = 1.5;
const LEASE_MS_MIN = 60_000;

/** Returns the milliseconds that the lease of a task with this interval lasts. */
export function leaseMsFor(everyMs: number): number {
  return Math.max(LEASE_MS_MIN, everyMs * INTERVALS_PER_LEASE);
}

/** Runs work at every interval in the one process of the deployment that has the lease. Rounds never overlap. */
export class LeasedTask {
  readonly #lease: TaskLease;
  readonly #task: PeriodicTask;

  constructor({ lease, isNeeded, run, ...options }: LeasedTaskOptions) {
    this.#lease = lease;
    this.#task = new PeriodicTask({
      ...options,
      name: lease.name,
      run: async () => {
        if ((!isNeeded || (await isNeeded())) && (await lease.isMine())) await run(this);
      },
    });
  }

  get isStopped(): boolean {
    return this.#task.isStopped;
  }

  /** Returns whether the work may go on: it was not stopped, and this process still has the lease. */
  async mayContinue(): Promise<boolean> {
    return !this.isStopped && (await this.#lease.isMine());
  }

  start(): void {
    this.#task.start();
  }

  /** Resolves when the round under way has ended and the lease is free for another process. */
  async stop(): Promise<void> {
    await this.#task.stop();
    await this.#lease.release().catch(() => undefined);
  }
}
