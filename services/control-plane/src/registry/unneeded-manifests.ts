import { readManifest } from './manifest-content.ts';
import type { Manifest } from './registry-store.ts';

export interface PlacedManifest extends Manifest {
  /** The name it was pushed by. */
  repository: string;
}

export interface PushedImages {
  manifests: readonly PlacedManifest[];
  tags: readonly { repository: string; digest: string }[];
}

/** Of revisions, as `<registry>/<name>@<digest>` or `<registry>/<name>:<tag>`. */
export interface NamedImages {
  /** That can be deployed again. */
  kept: readonly string[];
  /** That cannot. */
  old: readonly string[];
}

/**
 * Manifests that only old revisions name, with all they consist of and what says something of them. What has a tag stays, and
 * what no revision ever named: somebody may have pushed it for something else, or for the next revision.
 */
export function unneededManifests({ manifests, tags }: PushedImages, { kept, old }: NamedImages): Set<PlacedManifest> {
  const links = manifests.map((manifest) => ({ manifest, ...linksOf(manifest) }));
  const isNamed = (uris: readonly string[]) => (manifest: PlacedManifest) =>
    uris.some((uri) => uri.endsWith(`/${manifest.repository}@${manifest.digest}`));
  const isTagged = (manifest: PlacedManifest) =>
    tags.some(({ repository, digest }) => repository === manifest.repository && digest === manifest.digest);
  /** With what hangs on it, however deep. */
  const closure = (roots: PlacedManifest[]) => {
    const found = new Set(roots);
    for (const root of found) {
      const isPart = ({ repository, digest }: PlacedManifest) =>
        repository === root.repository && linksOf(root).parts.includes(digest);
      const speaksOf = ({ manifest, subject }: (typeof links)[number]) =>
        manifest.repository === root.repository && subject === root.digest;
      for (const part of manifests.filter(isPart)) found.add(part);
      for (const link of links.filter(speaksOf)) found.add(link.manifest);
    }
    return found;
  };
  const needed = closure(manifests.filter((each) => isNamed(kept)(each) || isTagged(each)));
  const unneeded = closure(manifests.filter((each) => isNamed(old)(each) && !needed.has(each)));
  for (const manifest of needed) unneeded.delete(manifest);
  return unneeded;
}

/** Digests of the blobs that these manifests consist of. */
export function blobsOf(manifests: Iterable<PlacedManifest>): Set<string> {
  return new Set([...manifests].flatMap((manifest) => linksOf(manifest).blobs));
}

function linksOf({ content, mediaType }: PlacedManifest): { parts: string[]; blobs: string[]; subject: string | null } {
  const { parts, subject } = readManifest(Buffer.from(content), mediaType);
  const isList = parts.kind === 'manifest';
  return { parts: isList ? parts.digests : [], blobs: isList ? [] : parts.digests, subject };
}
