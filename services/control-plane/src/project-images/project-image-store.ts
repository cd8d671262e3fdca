import { pendingObjects } from '@runyard/object-storage';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { digestOf } from '../images/digest.ts';
import { PROJECT_REPOSITORY } from '../images/registry-address.ts';
import { type BlobPart, keysOf } from '../registry/blob-parts.ts';
import { deleteUnsharedBlobs, type LinkedManifest, listManifests, lockImages } from '../registry/linked-manifests.ts';
import { CONFIG_TYPE, MANIFEST_TYPE } from './image-content.ts';

export interface StoredBlob {
  digest: string;
  size: number;
  parts: BlobPart[];
}

export interface NewImage {
  manifest: Buffer;
  /** Digests of layers that are stored as base layers. */
  baseLayers: string[];
  /** The image's other blobs. */
  blobs: StoredBlob[];
  tags: string[];
}

/** Stores the images of projects in the registry, in a repository of their own. */
export class ProjectImageStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the manifest with the tag; null when there is none. */
  async find(deploymentId: string, tag: string): Promise<{ digest: string; content: Buffer } | null> {
    const { prisma } = this.#database;
    const place = { deploymentId, repository: PROJECT_REPOSITORY };
    const tagged = await prisma.registryTag.findUnique({
      where: { deploymentId_repository_tag: { ...place, tag } },
    });
    if (!tagged) return null;
    const { digest } = tagged;
    const where = { deploymentId_repository_digest: { ...place, digest } };
    const { content } = await prisma.registryManifest.findUniqueOrThrow({ where });
    return { digest, content: Buffer.from(content) };
  }

  async tag(deploymentId: string, tag: string, digest: string): Promise<void> {
    await this.#database.transact((transaction) => putTags(transaction, deploymentId, digest, [tag]));
  }

  /**
   * Stores a complete image.
   *
   * @returns keys of surplus objects, whose blobs the deployment had already
   */
  async store(deploymentId: string, { manifest, baseLayers, blobs, tags }: NewImage): Promise<string[]> {
    const digest = digestOf(manifest);
    return this.#database.transact(async (transaction) => {
      await lockImages(transaction, deploymentId);
      await transaction.baseLayer.updateMany({ where: { digest: { in: baseLayers } }, data: { usedAt: new Date() } });
      const shared = await transaction.baseLayer.findMany({ where: { digest: { in: baseLayers } } });
      if (shared.length < baseLayers.length) throw new Error('a layer of the base image is gone');
      const rows = [...shared, ...blobs].map((blob) => ({ ...toBlobRow(blob), deploymentId }));
      const select = { digest: true };
      const made = await transaction.registryBlob.createManyAndReturn({ data: rows, skipDuplicates: true, select });
      const content = Uint8Array.from(manifest);
      const row = { deploymentId, repository: PROJECT_REPOSITORY, digest, mediaType: MANIFEST_TYPE, content };
      await transaction.registryManifest.createMany({
        data: [{ ...row, artifactType: CONFIG_TYPE }],
        skipDuplicates: true,
      });
      await putTags(transaction, deploymentId, digest, tags);
      const added = new Set(made.map((blob) => blob.digest));
      const partsOfAll = (each: StoredBlob[]) => each.flatMap(({ parts }) => parts);
      await pendingObjects.assignOwner(transaction, keysOf(partsOfAll(blobs.filter((blob) => added.has(blob.digest)))));
      const surplus = keysOf(partsOfAll(blobs.filter((blob) => !added.has(blob.digest))));
      await pendingObjects.removeOwner(transaction, surplus);
      return surplus;
    });
  }

  /** Deletes the deployment's images without such a tag. @returns keys of objects that have no owner any more */
  async keepOnly(deploymentId: string, isKept: (tag: string) => boolean): Promise<string[]> {
    const place = { deploymentId, repository: PROJECT_REPOSITORY };
    return this.#database.transact(async (transaction) => {
      await lockImages(transaction, deploymentId);
      const tags = await transaction.registryTag.findMany({ where: place });
      const deleted = tags.filter(({ tag }) => !isKept(tag)).map(({ tag }) => tag);
      await transaction.registryTag.deleteMany({ where: { ...place, tag: { in: deleted } } });
      const digests = tags.filter(({ tag }) => isKept(tag)).map(({ digest }) => digest);
      const unnamed = { ...place, digest: { notIn: digests } };
      if ((await transaction.registryManifest.count({ where: unnamed })) === 0) return [];
      // The deployment's pushed images may share blobs with these.
      const manifests = await listManifests(transaction, deploymentId);
      await transaction.registryManifest.deleteMany({ where: unnamed });
      const isKeptImage = ({ repository, digest }: LinkedManifest) =>
        repository !== PROJECT_REPOSITORY || digests.includes(digest);
      const remaining = manifests.filter(isKeptImage);
      return deleteUnsharedBlobs(transaction, deploymentId, {
        deleted: manifests.filter((each) => !isKeptImage(each)),
        remaining,
      });
    });
  }

  /** Returns the digests of those layers that are stored, and keeps them for at least a day. */
  async useBaseLayers(digests: string[]): Promise<Set<string>> {
    const { prisma } = this.#database;
    const where = { digest: { in: digests } };
    await prisma.baseLayer.updateMany({ where, data: { usedAt: new Date() } });
    const rows = await prisma.baseLayer.findMany({ where, select: { digest: true } });
    return new Set(rows.map(({ digest }) => digest));
  }

  /** Stores a base layer. @returns keys of its objects when another process was faster, so that they have no owner */
  async addBaseLayer({ digest, size, parts }: StoredBlob): Promise<string[]> {
    const data = [{ digest, size, parts: toJson(parts) }];
    const keys = keysOf(parts);
    return this.#database.transact(async (transaction) => {
      const { count } = await transaction.baseLayer.createMany({ data, skipDuplicates: true });
      if (count > 0) await pendingObjects.assignOwner(transaction, keys);
      else await pendingObjects.removeOwner(transaction, keys);
      return count > 0 ? [] : keys;
    });
  }

  /** Deletes layers that no image has and that were not used since. @returns keys of their objects */
  async forgetBaseLayers(usedBefore: Date): Promise<string[]> {
    return this.#database.transact(async (transaction) => {
      const rows = await transaction.$queryRaw<{ parts: BlobPart[] }[]>`
        DELETE FROM base_layer WHERE used_at < ${usedBefore}
          AND NOT EXISTS (SELECT 1 FROM registry_blob WHERE registry_blob.digest = base_layer.digest)
        RETURNING parts`;
      const keys = rows.flatMap(({ parts }) => keysOf(parts));
      await pendingObjects.removeOwner(transaction, keys);
      return keys;
    });
  }
}

async function putTags(
  transaction: Prisma.TransactionClient,
  deploymentId: string,
  digest: string,
  tags: string[],
): Promise<void> {
  await lockImages(transaction, deploymentId);
  for (const tag of tags) {
    const place = { deploymentId, repository: PROJECT_REPOSITORY, tag };
    await transaction.registryTag.upsert({
      where: { deploymentId_repository_tag: place },
      create: { ...place, digest },
      update: { digest },
    });
  }
}

function toBlobRow({ digest, size, parts }: { digest: string; size: number | bigint; parts: unknown }) {
  return { digest, size, parts: toJson(partsOf(parts)) };
}

const partsOf = (json: unknown) => json as BlobPart[];
const toJson = (parts: BlobPart[]) => parts as unknown as Prisma.InputJsonArray;
