import { pendingObjects } from '@runyard/object-storage';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { type BlobPart, keysOf } from './blob-parts.ts';
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

  /** Returns whether the deployment exists. The platform makes images of projects for every kind of source. */
  async mayHaveImages(deploymentId: string): Promise<boolean> {
    const where = { id: deploymentId, deleteRequestedAt: null };
    return (await this.#database.prisma.deployment.findFirst({ where, select: { id: true } })) !== null;
  }

  /** Returns whether the deployment exists and accepts pushed images. */
  async acceptsImages(deploymentId: string): Promise<boolean> {
    const where = { id: deploymentId, source: 'internal_docker', deleteRequestedAt: null };
    return (await this.#database.prisma.deployment.findFirst({ where, select: { id: true } })) !== null;
  }

  async beginUpload(deploymentId: string): Promise<Upload> {
    const { id } = await this.#database.prisma.registryUpload.create({ data: { id: uuidv7(), deploymentId } });
    return { id, size: 0, parts: [] };
  }

  async findUpload(deploymentId: string, id: string): Promise<Upload | null> {
    const row = await this.#database.prisma.registryUpload.findFirst({ where: { id, deploymentId } });
    return row && { id, size: Number(row.size), parts: partsOf(row.parts) };
  }

  /** Returns false when another request was faster, or the deployment is being deleted. */
  async extendUpload(deploymentId: string, before: Upload, part: BlobPart): Promise<boolean> {
    return this.#database.transact(async (transaction) => {
      const count = await transaction.$executeRaw`
        UPDATE registry_upload u SET size = u.size + ${part.size}::bigint, changed_at = now(),
          parts = u.parts || ${JSON.stringify([part])}::jsonb
        FROM deployment d
        WHERE u.id = ${before.id}::uuid AND u.deployment_id = ${deploymentId}::uuid AND u.size = ${before.size}::bigint
          AND d.id = u.deployment_id AND d.delete_requested_at IS NULL`;
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
      const { id, size, parts } = upload;
      const ended = await transaction.registryUpload.deleteMany({ where: { id, deploymentId, size } });
      if (ended.count === 0) return null;
      const made = await transaction.registryBlob.createMany({
        data: [{ deploymentId, digest, size, parts: toJson(parts) }],
        skipDuplicates: true,
      });
      const surplus = made.count > 0 ? [] : keysOf(parts);
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

  /** Returns uploads that were not continued since. */
  async staleUploads(deploymentId: string, before: Date): Promise<Upload[]> {
    const rows = await this.#database.prisma.registryUpload.findMany({
      where: { deploymentId, changedAt: { lt: before } },
    });
    return rows.map((row) => ({ id: row.id, size: Number(row.size), parts: partsOf(row.parts) }));
  }

  async findBlob(deploymentId: string, digest: string): Promise<Blob | null> {
    const where = { deploymentId_digest: { deploymentId, digest } };
    const row = await this.#database.prisma.registryBlob.findUnique({ where });
    return row && { size: Number(row.size), parts: partsOf(row.parts) };
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

const partsOf = (json: unknown) => json as BlobPart[];
const toJson = (parts: BlobPart[]) => parts as unknown as Prisma.InputJsonArray;

function exclude(digests: string[], rows: { digest: string }[]): string[] {
  const known = new Set(rows.map(({ digest }) => digest));
  return digests.filter((digest) => !known.has(digest));
}
