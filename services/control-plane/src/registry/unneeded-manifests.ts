import type { Prisma } from '../generated/client.ts';
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

export interface PushedImages {
  manifests: readonly LinkedManifest[];
  tags: readonly { repository: string; digest: string }[];
}

/** Of revisions, as `<registry>/<name>@<digest>` or `<registry>/<name>:<tag>`. */
export interface NamedImages {
  /** That can be deployed again. */
  kept: readonly string[];
  /** That cannot. */
  old: readonly string[];
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
 * Manifests that only old revisions name, with all they consist of and what says something of them. What has a tag stays, and
 * what no revision ever named: somebody may have pushed it for something else, or for the next revision.
 */
export function unneededManifests({ manifests, tags }: PushedImages, { kept, old }: NamedImages): Set<LinkedManifest> {
  const byPlace = new Map(manifests.map((manifest) => [placeOf(manifest), manifest]));
  const bySubject = new Map<string, LinkedManifest[]>();
  for (const manifest of manifests) {
    if (manifest.subject === null) continue;
    const subject = placeOf({ repository: manifest.repository, digest: manifest.subject });
    bySubject.set(subject, [...(bySubject.get(subject) ?? []), manifest]);
  }
  /** With what hangs on it, however deep. */
  const closure = (roots: LinkedManifest[]) => {
    const found = new Set(roots);
    for (const root of found) {
      for (const digest of root.parts) {
        const part = byPlace.get(placeOf({ repository: root.repository, digest }));
        if (part) found.add(part);
      }
      for (const referrer of bySubject.get(placeOf(root)) ?? []) found.add(referrer);
    }
    return found;
  };
  const tagged = new Set(tags.map(placeOf));
  const isKept = namedBy(kept);
  const isOld = namedBy(old);
  const needed = closure(manifests.filter((each) => isKept(each) || tagged.has(placeOf(each))));
  const unneeded = closure(manifests.filter((each) => isOld(each) && !needed.has(each)));
  for (const manifest of needed) unneeded.delete(manifest);
  return unneeded;
}

/** Digests of the blobs that these manifests consist of. */
export function blobsOf(manifests: Iterable<LinkedManifest>): Set<string> {
  return new Set([...manifests].flatMap(({ blobs }) => blobs));
}

const placeOf = ({ repository, digest }: { repository: string; digest: string }) => `${repository}@${digest}`;

function namedBy(uris: readonly string[]): (manifest: LinkedManifest) => boolean {
  const byDigest = new Map<string, string[]>();
  for (const uri of uris) {
    const digest = uri.slice(uri.lastIndexOf('@') + 1);
    byDigest.set(digest, [...(byDigest.get(digest) ?? []), uri]);
  }
  return (manifest) => byDigest.get(manifest.digest)?.some((uri) => uri.endsWith(`/${placeOf(manifest)}`)) ?? false;
}
