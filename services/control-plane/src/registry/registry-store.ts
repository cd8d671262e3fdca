import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { objectNotes } from '../object-storage/object-notes.ts';
import { type BlobPart, keysOf } from './blob-parts.ts';
import { lockImages } from './deployment-images.ts';
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

export interface Manifest {
  digest: string;
  mediaType: string;
  content: Uint8Array<ArrayBuffer>;
}

/** Where in the registry: the images of one deployment, and which of them. */
export interface Repository {
  deploymentId: string;
  name: string;
}

export interface Page {
  last?: string;
  count: number;
}

/** On one page. */
const REFERRERS_MAX = 1_000;

/** What is known of pushed images. Each call names the deployment: nothing is shared between two. */
export class RegistryStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Whether the deployment is there: images of its projects are made by the platform, whatever its source. */
  async mayHaveImages(deploymentId: string): Promise<boolean> {
    const where = { id: deploymentId, deleteRequestedAt: null };
    return (await this.#database.prisma.deployment.findFirst({ where, select: { id: true } })) !== null;
  }

  /** Whether the deployment is there and takes images. */
  async takesImages(deploymentId: string): Promise<boolean> {
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

  /** False when another request was faster, or the deployment is being deleted. */
  async extendUpload(deploymentId: string, before: Upload, part: BlobPart): Promise<boolean> {
    return this.#database.change(async (transaction) => {
      const { count } = await transaction.registryUpload.updateMany({
        where: { id: before.id, deploymentId, size: before.size, deployment: { deleteRequestedAt: null } },
        data: { size: before.size + part.size, parts: toJson([...before.parts, part]) },
      });
      if (count > 0) await objectNotes.keep(transaction, [part.key]);
      return count > 0;
    });
  }

  /**
   * The blob is whole.
   *
   * @returns names of objects that are nobody's now: those of the upload, where the deployment had the blob already. Null when
   *   another request was faster, and the upload is gone or longer
   */
  async finishUpload(deploymentId: string, upload: Upload, digest: string): Promise<string[] | null> {
    return this.#database.change(async (transaction) => {
      const { id, size, parts } = upload;
      const ended = await transaction.registryUpload.deleteMany({ where: { id, deploymentId, size } });
      if (ended.count === 0) return null;
      const made = await transaction.registryBlob.createMany({
        data: [{ deploymentId, digest, size, parts: toJson(parts) }],
        skipDuplicates: true,
      });
      const surplus = made.count > 0 ? [] : keysOf(parts);
      await objectNotes.release(transaction, surplus);
      return surplus;
    });
  }

  /** @returns names of its objects, which are nobody's now */
  async forgetUpload(deploymentId: string, id: string): Promise<string[]> {
    return this.#database.change(async (transaction) => {
      const forgotten = await transaction.$queryRaw<{ parts: BlobPart[] }[]>`
        DELETE FROM registry_upload WHERE id = ${id}::uuid AND deployment_id = ${deploymentId}::uuid RETURNING parts`;
      const keys = forgotten.flatMap(({ parts }) => keysOf(parts));
      await objectNotes.release(transaction, keys);
      return keys;
    });
  }

  /** Uploads nobody went on with since. */
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
   * Keeps it, under the tag too where one is given, if all it consists of is there.
   *
   * @returns digests of what is not: then nothing is kept
   */
  async putManifest(
    { deploymentId, name }: Repository,
    manifest: Manifest,
    {
      tag,
      subject,
      artifactType,
      parts,
    }: Pick<ManifestContent, 'subject' | 'artifactType' | 'parts'> & { tag: string | null },
  ): Promise<string[]> {
    const { digest, mediaType, content } = manifest;
    return this.#database.change(async (transaction) => {
      // Before it looks: what no image needs any more is removed under the same lock.
      await lockImages(transaction, deploymentId);
      const of = { deploymentId, digest: { in: parts.digests } };
      const select = { digest: true };
      const there =
        parts.kind === 'blob'
          ? await transaction.registryBlob.findMany({ where: of, select })
          : await transaction.registryManifest.findMany({ where: { ...of, repository: name }, select });
      const missing = without(parts.digests, there);
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
  async findManifest({ deploymentId, name }: Repository, reference: string): Promise<Manifest | null> {
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

  /** Manifests with the subject, by their digests, those after `after`: one at least, and no more bytes of them than the limit. */
  async referrers(
    { deploymentId, name }: Repository,
    wanted: { subject: string; artifactType: string | undefined; after: string | undefined; limitBytes: number },
  ): Promise<{ manifests: Manifest[]; isAll: boolean }> {
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

  /** Names of the deployment's images, in order, those after `last`. */
  async repositories(deploymentId: string, page: Page): Promise<string[]> {
    const rows = await this.#database.prisma.registryManifest.findMany({
      where: { deploymentId, ...(page.last === undefined ? {} : { repository: { gt: page.last } }) },
      distinct: ['repository'],
      select: { repository: true },
      orderBy: { repository: 'asc' },
      take: page.count,
    });
    return rows.map(({ repository }) => repository);
  }

  /** In order of their names, those after `last`; null when nothing was ever pushed by the repository's name. */
  async tags({ deploymentId, name }: Repository, page: Page): Promise<string[] | null> {
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

function without(digests: string[], rows: { digest: string }[]): string[] {
  const known = new Set(rows.map(({ digest }) => digest));
  return digests.filter((digest) => !known.has(digest));
}
