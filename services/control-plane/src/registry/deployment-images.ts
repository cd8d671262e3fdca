import { lockFor } from '@runyard/database';
import type { Prisma } from '../generated/client.ts';
import { objectNotes } from '../object-storage/object-notes.ts';
import { type BlobPart, imagesPrefix, keysOf } from './blob-parts.ts';
import { readManifest } from './manifest-content.ts';

/** What a manifest that was pushed names, without its content. */
export interface LinkedManifest {
  /** The name it was pushed by. */
  repository: string;
  digest: string;
  /** Digests of the manifests that a list of several images names. */
  parts: string[];
  /** Digests of the blobs that an image consists of. */
  blobs: string[];
  /** Digest of the manifest that it says something of. */
  subject: string | null;
}

/** Nobody else adds to or takes from the images of the deployment until the transaction ends. */
export function lockImages(transaction: Prisma.TransactionClient, deploymentId: string): Promise<unknown> {
  return lockFor(transaction, `image tags of ${deploymentId}`);
}

/** One may have 4 MiB: so many are in memory at once. */
const PAGE = 16;

/** All manifests of a deployment. */
export async function linkedManifests(
  transaction: Prisma.TransactionClient,
  where: Prisma.RegistryManifestWhereInput & { deploymentId: string },
): Promise<LinkedManifest[]> {
  const { deploymentId } = where;
  const found: LinkedManifest[] = [];
  for (;;) {
    const last = found.at(-1);
    const page = await transaction.registryManifest.findMany({
      where,
      orderBy: [{ repository: 'asc' }, { digest: 'asc' }],
      take: PAGE,
      ...(last && {
        cursor: {
          deploymentId_repository_digest: { deploymentId, repository: last.repository, digest: last.digest },
        },
        skip: 1,
      }),
    });
    found.push(...page.map(linked));
    if (page.length < PAGE) return found;
  }
}

function linked(row: { repository: string; digest: string; mediaType: string; content: Uint8Array }): LinkedManifest {
  const { repository, digest, content, mediaType } = row;
  const { parts, subject } = readManifest(Buffer.from(content), mediaType);
  const isList = parts.kind === 'manifest';
  return { repository, digest, parts: isList ? parts.digests : [], blobs: isList ? [] : parts.digests, subject };
}

/**
 * Forgets the blobs that manifests consisted of which are gone, where those that are left do not need them.
 *
 * @returns names of the objects that are nobody's now
 */
export async function forgetBlobs(
  transaction: Prisma.TransactionClient,
  deploymentId: string,
  { gone, left }: { gone: Iterable<LinkedManifest>; left: Iterable<LinkedManifest> },
): Promise<string[]> {
  const needed = blobsOf(left);
  const free = [...blobsOf(gone)].filter((digest) => !needed.has(digest));
  const where = { deploymentId, digest: { in: free } };
  const blobs = await transaction.registryBlob.findMany({ where });
  await transaction.registryBlob.deleteMany({ where });
  const keys = blobs.flatMap(({ parts }) => keysOf(parts as unknown as BlobPart[]));
  // Layers of base images are shared, and somebody else's to remove.
  const own = keys.filter((key) => key.startsWith(imagesPrefix(deploymentId)));
  await objectNotes.release(transaction, own);
  return own;
}

function blobsOf(manifests: Iterable<LinkedManifest>): Set<string> {
  return new Set([...manifests].flatMap(({ blobs }) => blobs));
}
