import { DIGEST } from '@runyard/image-registry';
import type { ObjectRemovals } from '@runyard/object-storage';
import type { Database } from '../database/database.ts';
import type { ControlPlaneQuestions } from '../deployments/control-plane-questions.ts';
import type { Prisma } from '../generated/client.ts';
import { RegistryError } from '../registry-error.ts';
import { deleteBlobs, deleteUnsharedBlobs, listManifests, lockImages } from '../stored-images/linked-manifests.ts';
import type { Repository } from '../stored-images/registry-store.ts';
import { planDeletion } from './plan-deletion.ts';

export interface ImageDeletionOptions {
  database: Database;
  removals: Pick<ObjectRemovals, 'remove'>;
  controlPlane: Pick<ControlPlaneQuestions, 'namedImages'>;
}

/** Deletes pushed images, by their tags or digests, and the layers that no other image contains. */
export class ImageDeletion {
  readonly #options: ImageDeletionOptions;

  constructor(options: ImageDeletionOptions) {
    this.#options = options;
  }

  /** @param version a tag or a digest @throws RegistryError as `planDeletion` does */
  async delete(repository: Repository, version: string): Promise<void> {
    const { database, removals, controlPlane } = this.#options;
    const { kept } = await controlPlane.namedImages(repository.deploymentId);
    const keys = await database.transact((transaction) => deleteImage(transaction, repository, version, kept));
    await removals.remove(keys);
  }

  /** @throws RegistryError BLOB_UNKNOWN, and DENIED while an image contains it */
  async deleteBlob(deploymentId: string, digest: string): Promise<void> {
    const { database, removals } = this.#options;
    await removals.remove(
      await database.transact((transaction) => deleteUnusedBlob(transaction, deploymentId, digest)),
    );
  }
}

/** Deletes a blob that no image contains. @returns keys of objects that have no owner any more */
async function deleteUnusedBlob(
  transaction: Prisma.TransactionClient,
  deploymentId: string,
  digest: string,
): Promise<string[]> {
  await lockImages(transaction, deploymentId);
  const where = { deploymentId_digest: { deploymentId, digest } };
  if (!DIGEST.test(digest) || !(await transaction.registryBlob.findUnique({ where, select: { digest: true } }))) {
    throw new RegistryError('BLOB_UNKNOWN', `There is no blob ${digest}.`);
  }
  const manifests = await listManifests(transaction, deploymentId);
  const user = manifests.find(({ blobs }) => blobs.includes(digest));
  if (user) {
    throw new RegistryError(
      'DENIED',
      `The image ${user.digest} consists of it, and takes it along when it is deleted.`,
    );
  }
  return deleteBlobs(transaction, deploymentId, [digest]);
}

/** @returns keys of objects that have no owner any more */
async function deleteImage(
  transaction: Prisma.TransactionClient,
  { deploymentId, name: repository }: Repository,
  version: string,
  kept: readonly string[],
): Promise<string[]> {
  await lockImages(transaction, deploymentId);
  const tags = await transaction.registryTag.findMany({ where: { deploymentId } });
  const manifests = await listManifests(transaction, deploymentId);
  const { deleted, remaining, tags: withoutImage } = planDeletion({ manifests, tags }, kept, { repository, version });
  // Manifests refer only to their own repository.
  const where = { deploymentId, repository };
  await transaction.registryTag.deleteMany({ where: { ...where, tag: { in: withoutImage.map(({ tag }) => tag) } } });
  await transaction.registryManifest.deleteMany({
    where: { ...where, digest: { in: [...deleted].map(({ digest }) => digest) } },
  });
  return deleteUnsharedBlobs(transaction, deploymentId, { deleted, remaining });
}
