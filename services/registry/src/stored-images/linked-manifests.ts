import { takeAdvisoryLock } from '@runyard/database';
import { pendingObjects } from '@runyard/object-storage';
import type { Prisma, RegistryManifest } from '../generated/client.ts';
import { type BlobPart, keysOf } from './blob-parts.ts';
import { parseImageManifest } from './manifest-content.ts';

/** The references of a pushed manifest, without its content. */
export interface LinkedManifest {
  /** The repository it was pushed to. */
  repository: string;
  digest: string;
  /** Digests of the manifests that an image list contains. */
  parts: string[];
  /** Digests of the blobs that an image contains. */
  blobs: string[];
  /** The digest of the manifest that it refers to. */
  subject: string | null;
}

/** Locks the deployment's images until the transaction ends, so that nobody else adds or removes any. */
export function lockImages(transaction: Prisma.TransactionClient, deploymentId: string): Promise<unknown> {
  return takeAdvisoryLock(transaction, `image tags of ${deploymentId}`);
}

/** Bytes of manifests that are in memory at once, unless a single one is larger. */
const BATCH_BYTES = 4 * 1024 * 1024;

type ManifestRow = Pick<RegistryManifest, 'repository' | 'digest' | 'mediaType' | 'content'>;
type ManifestSize = Pick<RegistryManifest, 'repository' | 'digest'> & { size: number };

/** Returns all manifests of a deployment. */
export async function listManifests(
  transaction: Prisma.TransactionClient,
  deploymentId: string,
): Promise<LinkedManifest[]> {
  const sizes = await transaction.$queryRaw<ManifestSize[]>`
    SELECT repository, digest, octet_length(content) AS size FROM registry_manifest
    WHERE deployment_id = ${deploymentId}::uuid`;
  const found: LinkedManifest[] = [];
  for (const batch of batchesOf(sizes)) {
    const repositories = batch.map(({ repository }) => repository);
    const digests = batch.map(({ digest }) => digest);
    const rows = await transaction.$queryRaw<ManifestRow[]>`
      SELECT repository, digest, media_type AS "mediaType", content FROM registry_manifest
      WHERE deployment_id = ${deploymentId}::uuid
        AND (repository, digest) IN (SELECT * FROM unnest(${repositories}::text[], ${digests}::text[]))`;
    for (const row of rows) found.push(toLinkedManifest(row));
  }
  return found;
}

function* batchesOf(sizes: readonly ManifestSize[]): Generator<ManifestSize[]> {
  let batch: ManifestSize[] = [];
  let bytes = 0;
  for (const each of sizes) {
    if (batch.length > 0 && bytes + each.size > BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(each);
    bytes += each.size;
  }
  if (batch.length > 0) yield batch;
}

function toLinkedManifest({ repository, digest, content, mediaType }: ManifestRow): LinkedManifest {
  const { parts, subject } = parseImageManifest(Buffer.from(content), mediaType);
  const isList = parts.kind === 'manifest';
  return { repository, digest, parts: isList ? parts.digests : [], blobs: isList ? [] : parts.digests, subject };
}

/**
 * Deletes the blobs of deleted manifests that no remaining manifest contains.
 *
 * @returns keys of objects that have no owner any more
 */
export function deleteUnsharedBlobs(
  transaction: Prisma.TransactionClient,
  deploymentId: string,
  { deleted, remaining }: { deleted: Iterable<LinkedManifest>; remaining: Iterable<LinkedManifest> },
): Promise<string[]> {
  const needed = blobsOf(remaining);
  const free = [...blobsOf(deleted)].filter((digest) => !needed.has(digest));
  return deleteBlobs(transaction, deploymentId, free);
}

/** Blobs of one deployment that one transaction looks at; the next sweep looks at others. */
const UNNAMED_MAX = 10_000;

/**
 * Deletes blobs that have waited since for a manifest, and that none names. Those that one names wait no more: they are
 * deleted with it.
 *
 * @returns keys of objects that have no owner any more
 */
export async function deleteUnnamedBlobs(
  transaction: Prisma.TransactionClient,
  deploymentId: string,
  awaitingBefore: Date,
): Promise<string[]> {
  await lockImages(transaction, deploymentId);
  // Whoever pushes one of them meanwhile, or asks for it, waits for this transaction.
  const rows = await transaction.$queryRaw<{ digest: string }[]>`
    SELECT digest FROM registry_blob
    WHERE deployment_id = ${deploymentId}::uuid AND awaits_manifest_since < ${awaitingBefore}
    ORDER BY awaits_manifest_since LIMIT ${UNNAMED_MAX} FOR UPDATE`;
  const named = blobsOf(await listManifests(transaction, deploymentId));
  const waiting = rows.map(({ digest }) => digest);
  await transaction.registryBlob.updateMany({
    where: { deploymentId, digest: { in: waiting.filter((digest) => named.has(digest)) } },
    data: { awaitsManifestSince: null },
  });
  return deleteBlobs(
    transaction,
    deploymentId,
    waiting.filter((digest) => !named.has(digest)),
  );
}

/** Deletes blobs. @returns keys of their objects, which have no owner any more */
export async function deleteBlobs(
  transaction: Prisma.TransactionClient,
  deploymentId: string,
  digests: string[],
): Promise<string[]> {
  const where = { deploymentId, digest: { in: digests } };
  const blobs = await transaction.registryBlob.findMany({ where });
  await transaction.registryBlob.deleteMany({ where });
  // Layers of base images are removed by their own sweep.
  const owned = blobs.filter(({ isShared }) => !isShared);
  const own = owned.flatMap(({ parts }) => keysOf(parts as unknown as BlobPart[]));
  await pendingObjects.removeOwner(transaction, own);
  return own;
}

function blobsOf(manifests: Iterable<LinkedManifest>): Set<string> {
  return new Set([...manifests].flatMap(({ blobs }) => blobs));
}
