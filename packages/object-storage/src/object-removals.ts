import { Lease, LeasedTask, leaseMsFor, type TaskLease } from '@runyard/leases';
import type { Lifecycle, Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { type ObjectStorage, ObjectStorageUnavailableError } from './object-storage.ts';
import { pendingObjects, type Queries } from './pending-objects.ts';

export interface ObjectRemovalsOptions {
  database: { prisma: Queries };
  objects: Pick<ObjectStorage, 'remove'>;
  /** The lease of the one process that sweeps. */
  lease: TaskLease;
  logger: Logger;
}

const SWEEP_MS = 10 * 60_000;
const SWEEP_BATCH = 100;

/** Starts the removal of pending objects, with a sweep at the start and every ten minutes by one of all processes. */
export function startObjectRemovals(
  options: Omit<ObjectRemovalsOptions, 'lease' | 'database'> & {
    database: { prisma: Queries; pool: pg.Pool };
    /** Identifies this process as a lease owner. */
    leaseOwner: string;
    lifecycle: Lifecycle;
  },
): ObjectRemovals {
  const { leaseOwner: owner, lifecycle, ...others } = options;
  const request = { name: 'object removals', owner, leaseMs: leaseMsFor(SWEEP_MS) };
  const removals = new ObjectRemovals({ ...others, lease: new Lease(options.database.pool, request) });
  removals.start();
  lifecycle.onStop('object removals', () => removals.stop());
  return removals;
}

/** Removes pending objects (pending-objects.ts), at once or when the storage is available again. */
export class ObjectRemovals {
  readonly #options: ObjectRemovalsOptions;
  readonly #task: LeasedTask;

  constructor(options: ObjectRemovalsOptions) {
    this.#options = options;
    this.#task = new LeasedTask({
      lease: options.lease,
      everyMs: SWEEP_MS,
      atStart: true,
      run: () => this.sweep(),
      logger: options.logger,
    });
  }

  start(): void {
    this.#task.start();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  /** Records that an object will be uploaded with this key, which no object ever had. */
  record(key: string): Promise<void> {
    return pendingObjects.record(this.#options.database.prisma, key);
  }

  /**
   * Gives up objects after a failed upload, unless a transaction with an unknown result gave them an owner. The next
   * sweep removes them. Never throws: after a day they are removed anyway.
   */
  async abandon(keys: readonly string[]): Promise<void> {
    const { database, logger } = this.#options;
    await pendingObjects.abandon(database.prisma, keys).catch((error: unknown) => {
      logger.warn('objects not marked for removal, will be removed in a day', { objects: keys.length, error });
    });
  }

  /** Removes objects that a transaction has released. Never throws: a later sweep removes the rest. */
  async remove(keys: readonly string[]): Promise<void> {
    const { database, logger } = this.#options;
    if (keys.length === 0) return;
    try {
      await this.#removeAll(await pendingObjects.beginRemoval(database.prisma, { keys, limit: keys.length }));
    } catch (error) {
      logger.warn('object removal failed, will retry', { objects: keys.length, error });
    }
  }

  /**
   * Removes all objects that are due.
   *
   * @throws ObjectStorageUnavailableError when the storage is unavailable: the next sweep continues
   */
  async sweep(): Promise<void> {
    let after = '';
    while (!this.#task.isStopped) {
      const keys = await pendingObjects.beginRemoval(this.#options.database.prisma, { after, limit: SWEEP_BATCH });
      await this.#removeAll(keys);
      const last = keys.at(-1);
      if (last === undefined || keys.length < SWEEP_BATCH) return;
      after = last;
    }
  }

  /** Removes the objects. A failure of one does not keep the others from being removed. */
  async #removeAll(keys: readonly string[]): Promise<void> {
    const { database, objects, logger } = this.#options;
    const removed: string[] = [];
    const failures: unknown[] = [];
    try {
      for (const key of keys) {
        if (this.#task.isStopped) return;
        try {
          await objects.remove(key);
          removed.push(key);
        } catch (error) {
          if (error instanceof ObjectStorageUnavailableError) throw error;
          failures.push(error);
        }
      }
    } finally {
      if (failures.length > 0) {
        const [error] = failures;
        logger.warn('object removal refused', { objects: failures.length, error });
      }
      if (removed.length > 0) await pendingObjects.forget(database.prisma, removed);
    }
  }
}
