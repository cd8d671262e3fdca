import { parseImageReference, REGISTRY_SEGMENT } from '@runyard/image-registry';
import type { LinkedManifest } from '../stored-images/linked-manifests.ts';

/** A name for a manifest, which may move to another one. */
export interface Tag {
  repository: string;
  tag: string;
  digest: string;
}

/** All images that were pushed for a deployment. */
export interface PushedImages {
  manifests: readonly LinkedManifest[];
  tags: readonly Tag[];
}

/** The name by which a revision refers to an image of a deployment. */
export interface ImageName {
  repository: string;
  /** A tag or a digest. */
  version: string;
}

/**
 * Parses a name like `<registry>/<name>@<digest>` or `<registry>/<name>:<tag>`. Returns null when it does not name an
 * image of a platform's registry.
 */
export function parseImageName(uri: string): ImageName | null {
  const reference = parseImageReference(uri);
  const [segment, , ...name] = reference?.repository.split('/') ?? [];
  return reference && segment === REGISTRY_SEGMENT ? { repository: name.join('/'), version: reference.version } : null;
}

/** The references between a deployment's images: lists have parts, and some manifests refer to a subject. */
export class ImageGraph {
  readonly #images: PushedImages;
  readonly #byPlace: ReadonlyMap<string, LinkedManifest>;
  readonly #bySubject = new Map<string, LinkedManifest[]>();

  constructor(images: PushedImages) {
    this.#images = images;
    this.#byPlace = new Map(images.manifests.map((manifest) => [placeOf(manifest), manifest]));
    for (const manifest of images.manifests) {
      if (manifest.subject === null) continue;
      const subject = placeOf({ repository: manifest.repository, digest: manifest.subject });
      const others = this.#bySubject.get(subject);
      if (others) others.push(manifest);
      else this.#bySubject.set(subject, [manifest]);
    }
  }

  at(repository: string, digest: string): LinkedManifest | undefined {
    return this.#byPlace.get(placeOf({ repository, digest }));
  }

  /** Returns the manifests with a tag. */
  findTagged(): LinkedManifest[] {
    return this.#images.tags.flatMap(({ repository, digest }) => this.at(repository, digest) ?? []);
  }

  /** Returns the existing manifests that revisions name. */
  findNamed(uris: readonly string[]): LinkedManifest[] {
    return uris.flatMap((uri) => this.#resolve(parseImageName(uri)) ?? []);
  }

  /** Returns a list that contains the manifest, if any. */
  findListOf({ repository, digest }: LinkedManifest): LinkedManifest | undefined {
    return this.#images.manifests.find((each) => each.repository === repository && each.parts.includes(digest));
  }

  /** Returns the manifests with all their parts, recursively. */
  withParts(manifests: Iterable<LinkedManifest>): Set<LinkedManifest> {
    const found = new Set(manifests);
    for (const each of found) {
      for (const part of this.#partsOf(each)) found.add(part);
    }
    return found;
  }

  /**
   * Returns the manifests with all their dependents, recursively: their parts and their referrers. Leaves out the
   * needed ones, and those that also depend on any other manifest.
   */
  findDependents(manifests: Iterable<LinkedManifest>, needed: Iterable<LinkedManifest>): Set<LinkedManifest> {
    const hanging = this.#closure(manifests);
    const others = this.#images.manifests.filter((each) => !hanging.has(each));
    for (const each of this.#closure([...needed, ...others])) hanging.delete(each);
    return hanging;
  }

  #resolve(name: ImageName | null): LinkedManifest | undefined {
    if (!name) return undefined;
    const { repository, version } = name;
    const tagged = this.#images.tags.find((each) => each.repository === repository && each.tag === version);
    return this.at(repository, tagged?.digest ?? version);
  }

  #closure(manifests: Iterable<LinkedManifest>): Set<LinkedManifest> {
    const found = new Set(manifests);
    for (const each of found) {
      for (const part of this.#partsOf(each)) found.add(part);
      for (const referrer of this.#bySubject.get(placeOf(each)) ?? []) found.add(referrer);
    }
    return found;
  }

  #partsOf({ repository, parts }: LinkedManifest): LinkedManifest[] {
    return parts.flatMap((digest) => this.at(repository, digest) ?? []);
  }
}

const placeOf = ({ repository, digest }: { repository: string; digest: string }) => `${repository}@${digest}`;
