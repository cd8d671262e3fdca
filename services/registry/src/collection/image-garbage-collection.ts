import type { NamedImages } from '@runyard/contracts';
import { PROJECT_REPOSITORY } from '@runyard/image-registry';
import { Lease, LeasedTask, leaseMsFor, type TaskLease } from '@runyard/leases';
import type { ObjectRemovals } from '@runyard/object-storage';
import type { Lifecycle, Logger } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import type { ControlPlaneQuestions } from '../deployments/control-plane-questions.ts';
import type { Prisma } from '../generated/client.ts';
import { BASE_LAYERS } from '../stored-images/image-owner.ts';
import {
  deleteUnnamedBlobs,
  deleteUnsharedBlobs,
  listManifests,
  lockImages,
} from '../stored-images/linked-manifests.ts';
import type { RegistryStore } from '../stored-images/registry-store.ts';
import { findGarbageManifests } from './garbage-manifests.ts';

export interface ImageGarbageCollectionOptions {
  database: Database;
  removals: Pick<ObjectRemovals, 'remove'>;
  store: RegistryStore;
  controlPlane: Pick<ControlPlaneQuestions, 'namedImages'>;
  /** The lease of the one process that sweeps. */
  lease: TaskLease;
  logger: Logger;
}

const SWEEP_MS = 60 * 60_000;
/** Longer than it takes to make any image: its layers are there before it is. */
const UNUSED_MS = 25 * 60 * 60_000;
/** Uploads that nobody continues and blobs that no manifest names are removed after so long: a push takes less. */
const ABANDONED_MS = 24 * 60 * 60_000;
/** Longer than any token, and any upload. */
const FORGOTTEN_MS = 48 * 60 * 60_000;

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

/**
 * Removes pushed images that are named only by revisions too old to be deployed again, what was pushed and became no
 * image, and layers of base images that no image has. A revision that names an image while it is removed is as one that
 * came after: nothing promises that the image it names is there.
 */
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
    const { store, removals } = this.#options;
    const abandonedBefore = new Date(Date.now() - ABANDONED_MS);
    await removals.remove(await store.forgetAbandonedUploads(abandonedBefore));
    await this.#removeUnnamedBlobs(abandonedBefore);
    await removals.remove(await store.forgetBaseLayers(new Date(Date.now() - UNUSED_MS)));
    await store.forgetDeployments(new Date(Date.now() - FORGOTTEN_MS));
    await this.#removeOldImages();
  }

  async #removeUnnamedBlobs(awaitingBefore: Date): Promise<void> {
    const { database } = this.#options;
    const found = await database.prisma.$queryRaw<{ deploymentId: string }[]>`
      SELECT DISTINCT deployment_id AS "deploymentId" FROM registry_blob
      WHERE awaits_manifest_since < ${awaitingBefore} AND deployment_id <> ${BASE_LAYERS.deploymentId}::uuid`;
    await this.#removeEach(found, (deploymentId) =>
      database.transact((transaction) => deleteUnnamedBlobs(transaction, deploymentId, awaitingBefore)),
    );
  }

  async #removeOldImages(): Promise<void> {
    const { database, controlPlane } = this.#options;
    // A project's images are removed by the platform itself, which makes them.
    const pushedTo = await database.prisma.registryManifest.findMany({
      where: { repository: { not: PROJECT_REPOSITORY } },
      distinct: ['deploymentId'],
      select: { deploymentId: true },
    });
    await this.#removeEach(pushedTo, async (deploymentId) => {
      const named = await controlPlane.namedImages(deploymentId);
      if (named.old.length === 0) return [];
      return database.transact((transaction) => deleteGarbage(transaction, deploymentId, named));
    });
  }

  /** @param release takes what nobody needs of a deployment from it, and returns keys of objects without an owner */
  async #removeEach(
    deployments: readonly { deploymentId: string }[],
    release: (deploymentId: string) => Promise<string[]>,
  ): Promise<void> {
    const { removals, logger } = this.#options;
    for (const { deploymentId } of deployments) {
      if (!(await this.#task.mayContinue())) return;
      try {
        await removals.remove(await release(deploymentId));
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
  named: NamedImages,
): Promise<string[]> {
  await lockImages(transaction, deploymentId);
  const where = { deploymentId };
  const manifests = await listManifests(transaction, deploymentId);
  const tags = await transaction.registryTag.findMany({ where });
  const garbage = findGarbageManifests({ manifests, tags }, named);
  for (const { repository, digest } of garbage) {
    await transaction.registryManifest.deleteMany({ where: { ...where, repository, digest } });
  }
  const remaining = manifests.filter((manifest) => !garbage.has(manifest));
  return deleteUnsharedBlobs(transaction, deploymentId, { deleted: garbage, remaining });
}
