import { pendingObjects } from '@runyard/object-storage';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { RegistryError } from '../registry-error.ts';
import { type BlobPart, keysOf } from './blob-parts.ts';
import { BASE_LAYERS } from './image-owner.ts';
import { lockImages } from './linked-manifests.ts';
import type { ManifestContent } from './manifest-content.ts';

export interface Upload {
  id: string;
  size: number;
  parts: BlobPart[];
}

export interface Blob {
  size: number;
  parts: BlobPart[];
}

export interface StoredManifest {
  digest: string;
  mediaType: string;
  content: Uint8Array<ArrayBuffer>;
}

/** A repository of one deployment's images. */
export interface Repository {
  deploymentId: string;
  name: string;
}

export interface ListRequest {
  last?: string;
  count: number;
}

/** Limit of one page. */
const REFERRERS_MAX = 1_000;

/** Stores the metadata of pushed images. Each call names the deployment: two deployments share nothing. */
export class RegistryStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds a deployment for which images will be stored, unless it is here, or was deleted. */
  async addDeployment(id: string, workspaceId: string): Promise<void> {
    await this.#database.prisma.deployment.createMany({ data: [{ id, workspaceId }], skipDuplicates: true });
  }

  /**
   * Removes the metadata of all images of a deployment that is being deleted. From here on nothing is stored for it,
   * whatever is still on its way.
   */
  async removeDeployment(id: string): Promise<void> {
    await this.#database.transact(async (transaction) => {
      const removedAt = new Date();
      await transaction.deployment.upsert({ where: { id }, create: { id, removedAt }, update: { removedAt } });
      const where = { deploymentId: id };
      await transaction.registryTag.deleteMany({ where });
      await transaction.registryManifest.deleteMany({ where });
      await transaction.registryBlob.deleteMany({ where });
      await transaction.registryUpload.deleteMany({ where });
    });
  }

  /** Forgets deployments that were deleted before, when nothing of them can be on its way any more. */
  async forgetDeployments(removedBefore: Date): Promise<void> {
    await this.#database.prisma.deployment.deleteMany({ where: { removedAt: { lt: removedBefore } } });
  }

  async beginUpload(deploymentId: string): Promise<Upload> {
    return this.#database.transact(async (transaction) => {
      await lockDeployment(transaction, deploymentId);
      const { id } = await transaction.registryUpload.create({ data: { id: uuidv7(), deploymentId } });
      return { id, size: 0, parts: [] };
    });
  }

  async findUpload(deploymentId: string, id: string): Promise<Upload | null> {
    const row = await this.#database.prisma.registryUpload.findFirst({ where: { id, deploymentId } });
    return row && { id, size: Number(row.size), parts: partsOf(row.parts) };
  }

  /** Counts bytes that are being received for an upload. A negative number takes them back. */
  async countIncoming(id: string, bytes: number): Promise<void> {
    await this.#database.prisma.$executeRaw`
      UPDATE registry_upload SET incoming = incoming + ${bytes}::bigint, changed_at = now() WHERE id = ${id}::uuid`;
  }

  /** Adds a part that was counted as incoming. Returns false when another request was faster, or the deployment was deleted. */
  async extendUpload(deploymentId: string, before: Upload, part: BlobPart): Promise<boolean> {
    return this.#database.transact(async (transaction) => {
      const count = await transaction.$executeRaw`
        UPDATE registry_upload SET size = size + ${part.size}::bigint, incoming = incoming - ${part.size}::bigint,
          changed_at = now(), parts = parts || ${JSON.stringify([part])}::jsonb
        WHERE id = ${before.id}::uuid AND deployment_id = ${deploymentId}::uuid AND size = ${before.size}::bigint`;
      if (count > 0) await pendingObjects.assignOwner(transaction, [part.key]);
      return count > 0;
    });
  }

  /**
   * Turns a complete upload into a blob.
   *
   * @returns keys of objects that have no owner any more: those of the upload, if the deployment had the blob already.
   * Null when another request has ended or continued the upload
   */
  async finishUpload(deploymentId: string, upload: Upload, digest: string): Promise<string[] | null> {
    return this.#database.transact(async (transaction) => {
      await lockDeployment(transaction, deploymentId);
      const { id, size, parts } = upload;
      const ended = await transaction.registryUpload.deleteMany({ where: { id, deploymentId, size } });
      if (ended.count === 0) return null;
      const stored = keysOf(await storeBlob(transaction, { deploymentId, digest, size, parts, isShared: false }));
      const surplus = keysOf(parts).filter((key) => !stored.includes(key));
      await pendingObjects.removeOwner(transaction, surplus);
      return surplus;
    });
  }

  /** @returns keys of its objects, which have no owner any more */
  async forgetUpload(deploymentId: string, id: string): Promise<string[]> {
    return this.#database.transact(async (transaction) => {
      const forgotten = await transaction.$queryRaw<{ parts: BlobPart[] }[]>`
        DELETE FROM registry_upload WHERE id = ${id}::uuid AND deployment_id = ${deploymentId}::uuid RETURNING parts`;
      const keys = forgotten.flatMap(({ parts }) => keysOf(parts));
      await pendingObjects.removeOwner(transaction, keys);
      return keys;
    });
  }

  /** Deletes uploads that were not continued since. @returns keys of their objects, which have no owner any more */
  async forgetAbandonedUploads(changedBefore: Date): Promise<string[]> {
    return this.#database.transact(async (transaction) => {
      const forgotten = await transaction.$queryRaw<{ parts: BlobPart[] }[]>`
        DELETE FROM registry_upload WHERE changed_at < ${changedBefore} RETURNING parts`;
      const keys = forgotten.flatMap(({ parts }) => keysOf(parts));
      await pendingObjects.removeOwner(transaction, keys);
      return keys;
    });
  }

  async findBlob(deploymentId: string, digest: string): Promise<Blob | null> {
    const where = { deploymentId_digest: { deploymentId, digest } };
    const row = await this.#database.prisma.registryBlob.findUnique({ where });
    return row && { size: Number(row.size), parts: partsOf(row.parts) };
  }

  /**
   * Keeps a blob that waits for its manifest as long as one that has just been pushed.
   *
   * @returns whether it is there
   */
  async keepBlob(deploymentId: string, digest: string): Promise<boolean> {
    const { registryBlob } = this.#database.prisma;
    const where = { deploymentId, digest };
    const { count } = await registryBlob.updateMany({
      where: { ...where, awaitsManifestSince: { not: null } },
      data: { awaitsManifestSince: new Date() },
    });
    return count > 0 || (await registryBlob.count({ where })) > 0;
  }

  /**
   * Gives a deployment a layer of a base image, whose objects it shares.
   *
   * @returns whether the layer is there
   */
  async mountBaseLayer(deploymentId: string, digest: string): Promise<boolean> {
    return this.#database.transact(async (transaction) => {
      await lockDeployment(transaction, deploymentId);
      const of = { deploymentId: BASE_LAYERS.deploymentId, digest };
      // A sweep that waits for this row sees that it is in use.
      const { count } = await transaction.registryBlob.updateMany({ where: of, data: { usedAt: new Date() } });
      if (count === 0) return false;
      const { size, parts } = await transaction.registryBlob.findUniqueOrThrow({ where: { deploymentId_digest: of } });
      await storeBlob(transaction, {
        ...{ deploymentId, digest, size: Number(size), parts: partsOf(parts) },
        isShared: true,
      });
      return true;
    });
  }

  /**
   * Deletes layers of base images that no image has and that were not used since.
   *
   * @returns keys of their objects, which have no owner any more
   */
  async forgetBaseLayers(usedBefore: Date): Promise<string[]> {
    return this.#database.transact(async (transaction) => {
      const rows = await transaction.$queryRaw<{ parts: BlobPart[] }[]>`
        DELETE FROM registry_blob AS layer
        WHERE deployment_id = ${BASE_LAYERS.deploymentId}::uuid AND used_at < ${usedBefore}
          AND NOT EXISTS (SELECT FROM registry_blob WHERE digest = layer.digest AND is_shared)
        RETURNING parts`;
      const keys = rows.flatMap(({ parts }) => keysOf(parts));
      await pendingObjects.removeOwner(transaction, keys);
      return keys;
    });
  }

  /**
   * Stores a manifest, with the tag if one is given, unless one of its parts is missing.
   *
   * @returns digests of the missing parts; with any, nothing is stored
   */
  async putManifest(
    { deploymentId, name }: Repository,
    manifest: StoredManifest,
    {
      tag,
      subject,
      artifactType,
      parts,
    }: Pick<ManifestContent, 'subject' | 'artifactType' | 'parts'> & { tag: string | null },
  ): Promise<string[]> {
    const { digest, mediaType, content } = manifest;
    return this.#database.transact(async (transaction) => {
      await lockDeployment(transaction, deploymentId);
      // The lock comes before the check, because unused blobs are deleted under the same lock.
      await lockImages(transaction, deploymentId);
      const of = { deploymentId, digest: { in: parts.digests } };
      const select = { digest: true };
      const there =
        parts.kind === 'blob'
          ? await transaction.registryBlob.findMany({ where: of, select })
          : await transaction.registryManifest.findMany({ where: { ...of, repository: name }, select });
      const missing = exclude(parts.digests, there);
      if (missing.length > 0) return missing;
      await transaction.registryManifest.createMany({
        data: [{ deploymentId, repository: name, digest, mediaType, content, subject, artifactType }],
        skipDuplicates: true,
      });
      if (tag === null) return [];
      await transaction.registryTag.upsert({
        where: { deploymentId_repository_tag: { deploymentId, repository: name, tag } },
        create: { deploymentId, repository: name, tag, digest },
        update: { digest },
      });
      return [];
    });
  }

  /** @param reference a digest or a tag */
  async findManifest({ deploymentId, name }: Repository, reference: string): Promise<StoredManifest | null> {
    const { prisma } = this.#database;
    const repository = { deploymentId, repository: name };
    const digest = reference.includes(':')
      ? reference
      : (
          await prisma.registryTag.findUnique({
            where: { deploymentId_repository_tag: { ...repository, tag: reference } },
          })
        )?.digest;
    if (digest === undefined) return null;
    const where = { deploymentId_repository_digest: { ...repository, digest } };
    return prisma.registryManifest.findUnique({ where });
  }

  /**
   * Returns the referrers of a subject in the order of their digests, from `after` on. It returns at least one, and
   * stops before their bytes exceed the limit.
   */
  async referrers(
    { deploymentId, name }: Repository,
    wanted: { subject: string; artifactType: string | undefined; after: string | undefined; limitBytes: number },
  ): Promise<{ manifests: StoredManifest[]; isAll: boolean }> {
    const { prisma } = this.#database;
    const type = wanted.artifactType ?? null;
    const found = await prisma.$queryRaw<{ digest: string; size: number }[]>`
      SELECT digest, octet_length(content) AS size FROM registry_manifest
      WHERE deployment_id = ${deploymentId}::uuid AND repository = ${name} AND subject = ${wanted.subject}
        AND (${type}::text IS NULL OR artifact_type = ${type}) AND digest > ${wanted.after ?? ''}
      ORDER BY digest LIMIT ${REFERRERS_MAX + 1}`;
    let bytes = 0;
    const page = found.slice(0, REFERRERS_MAX).filter(({ size }, index) => {
      bytes += size;
      return index === 0 || bytes <= wanted.limitBytes;
    });
    const manifests = await prisma.registryManifest.findMany({
      where: { deploymentId, repository: name, digest: { in: page.map(({ digest }) => digest) } },
      orderBy: { digest: 'asc' },
    });
    return { manifests, isAll: page.length === found.length };
  }

  /** Returns the names of the deployment's images after `last`, in order. */
  async repositories(deploymentId: string, page: ListRequest): Promise<string[]> {
    const rows = await this.#database.prisma.registryManifest.findMany({
      where: { deploymentId, ...(page.last === undefined ? {} : { repository: { gt: page.last } }) },
      distinct: ['repository'],
      select: { repository: true },
      orderBy: { repository: 'asc' },
      take: page.count,
    });
    return rows.map(({ repository }) => repository);
  }

  /** Returns the tags after `last`, in order; null for a repository without manifests. */
  async tags({ deploymentId, name }: Repository, page: ListRequest): Promise<string[] | null> {
    const rows = await this.#database.prisma.registryTag.findMany({
      where: { deploymentId, repository: name, ...(page.last === undefined ? {} : { tag: { gt: page.last } }) },
      orderBy: { tag: 'asc' },
      take: page.count,
    });
    if (rows.length > 0) return rows.map(({ tag }) => tag);
    const where = { deploymentId, repository: name };
    return (await this.#database.prisma.registryManifest.findFirst({ where, select: { digest: true } })) && [];
  }
}

/**
 * Keeps a deployment from being deleted until the transaction ends.
 *
 * @throws RegistryError when it was deleted
 */
async function lockDeployment(transaction: Prisma.TransactionClient, deploymentId: string): Promise<void> {
  const rows = await transaction.$queryRaw<unknown[]>`
    SELECT FROM deployment WHERE id = ${deploymentId}::uuid AND removed_at IS NULL FOR SHARE`;
  if (rows.length === 0) throw new RegistryError('NAME_UNKNOWN', 'The deployment was deleted.');
}

/** Stores a blob that a manifest will name. One that is there is kept as long as this one. @returns the parts it has */
async function storeBlob(
  transaction: Prisma.TransactionClient,
  { deploymentId, digest, size, parts, isShared }: Blob & { deploymentId: string; digest: string; isShared: boolean },
): Promise<BlobPart[]> {
  const rows = await transaction.$queryRaw<{ parts: BlobPart[] }[]>`
    INSERT INTO registry_blob AS blob (deployment_id, digest, size, parts, is_shared)
    VALUES (${deploymentId}::uuid, ${digest}, ${size}::bigint, ${JSON.stringify(parts)}::jsonb, ${isShared})
    ON CONFLICT (deployment_id, digest) DO UPDATE
    SET awaits_manifest_since = CASE WHEN blob.awaits_manifest_since IS NOT NULL THEN now() END
    RETURNING parts`;
  return rows[0]!.parts;
}

const partsOf = (json: unknown) => json as BlobPart[];

function exclude(digests: string[], rows: { digest: string }[]): string[] {
  const known = new Set(rows.map(({ digest }) => digest));
  return digests.filter((digest) => !known.has(digest));
}
