import type { LinkedManifest } from './deployment-images.ts';

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

const placeOf = ({ repository, digest }: { repository: string; digest: string }) => `${repository}@${digest}`;

function namedBy(uris: readonly string[]): (manifest: LinkedManifest) => boolean {
  const byDigest = new Map<string, string[]>();
  for (const uri of uris) {
    const digest = uri.slice(uri.lastIndexOf('@') + 1);
    byDigest.set(digest, [...(byDigest.get(digest) ?? []), uri]);
  }
  return (manifest) => byDigest.get(manifest.digest)?.some((uri) => uri.endsWith(`/${placeOf(manifest)}`)) ?? false;
}
