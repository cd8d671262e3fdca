import { Lease, LeasedTask, leaseMsFor, type TaskLease } from '@runyard/leases';
import type { ObjectRemovals } from '@runyard/object-storage';
import type { Lifecycle, Logger } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { findGarbageManifests } from './garbage-manifests.ts';
import { deleteUnsharedBlobs, listManifests, lockImages } from './linked-manifests.ts';
import { findNamedImages } from './named-images.ts';

export interface ImageGarbageCollectionOptions {
  database: Database;
  removals: Pick<ObjectRemovals, 'remove'>;
  /** The number of a deployment's newest revisions that can be deployed again. */
  revisionsKept: number;
  /** The lease of the one process that sweeps. */
  lease: TaskLease;
  logger: Logger;
}

const SWEEP_MS = 60 * 60_000;

/** Starts the removal of unused images, with a sweep at the start and every hour by one of all processes. */
export function startImageGarbageCollection(
  options: Omit<ImageGarbageCollectionOptions, 'lease'> & {
    /** Identifies this process as a lease owner. */
    leaseOwner: string;
    lifecycle: Lifecycle;
  },
): void {
  const { leaseOwner: owner, lifecycle, ...others } = options;
  const request = { name: 'unused images', owner, leaseMs: leaseMsFor(SWEEP_MS) };
  const images = new ImageGarbageCollection({ ...others, lease: new Lease(options.database.pool, request) });
  images.start();
  lifecycle.onStop('image garbage collection', () => images.stop());
}

/** Removes pushed images that are named only by revisions too old to be deployed again. */
export class ImageGarbageCollection {
  readonly #options: ImageGarbageCollectionOptions;
  readonly #task: LeasedTask;

  constructor(options: ImageGarbageCollectionOptions) {
    this.#options = options;
    this.#task = new LeasedTask({
      lease: options.lease,
      everyMs: SWEEP_MS,
      atStart: true,
      run: () => this.remove(),
      logger: options.logger,
    });
  }

  start(): void {
    this.#task.start();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async remove(): Promise<void> {
    const { database, removals, revisionsKept, logger } = this.#options;
    const candidates = await database.prisma.revision.findMany({
      where: { source: 'internal_docker', number: { gt: revisionsKept } },
      distinct: ['deploymentId'],
      select: { deploymentId: true },
    });
    for (const { deploymentId } of candidates) {
      try {
        const keys = await database.transact((transaction) => deleteGarbage(transaction, deploymentId, revisionsKept));
        await removals.remove(keys);
      } catch (error) {
        // A failure for one deployment does not keep the images of others from being removed.
        logger.warn('image garbage collection failed', { deploymentId, error });
      }
    }
  }
}

/** @returns keys of objects that have no owner any more */
async function deleteGarbage(
  transaction: Prisma.TransactionClient,
  deploymentId: string,
  revisionsKept: number,
): Promise<string[]> {
  await lockImages(transaction, deploymentId);
  const where = { deploymentId };
  const named = await findNamedImages(transaction, deploymentId, revisionsKept);
  if (named.old.length === 0) return [];
  const manifests = await listManifests(transaction, deploymentId);
  const tags = await transaction.registryTag.findMany({ where });
  const garbage = findGarbageManifests({ manifests, tags }, named);
  for (const { repository, digest } of garbage) {
    await transaction.registryManifest.deleteMany({ where: { ...where, repository, digest } });
  }
  const remaining = manifests.filter((manifest) => !garbage.has(manifest));
  return deleteUnsharedBlobs(transaction, deploymentId, { deleted: garbage, remaining });
}
