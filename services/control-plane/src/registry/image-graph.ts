import { parseImageReference } from '../project-images/image-reference.ts';
import type { LinkedManifest } from './deployment-images.ts';
import { REGISTRY_SEGMENT } from './registry-address.ts';

/** A name of a manifest that can be given to another one. */
export interface Tag {
  repository: string;
  tag: string;
  digest: string;
}

/** All that was pushed for a deployment. */
export interface PushedImages {
  manifests: readonly LinkedManifest[];
  tags: readonly Tag[];
}

/** An image of a deployment, as revisions name it. */
export interface ImageName {
  repository: string;
  /** A tag, or a digest. */
  version: string;
}

/** What a name like `<registry>/<name>@<digest>` or `<registry>/<name>:<tag>` means; null for an image of no registry like this. */
export function imageNamed(uri: string): ImageName | null {
  const reference = parseImageReference(uri);
  const [segment, , ...name] = reference?.repository.split('/') ?? [];
  return reference && segment === REGISTRY_SEGMENT ? { repository: name.join('/'), version: reference.version } : null;
}

/** What the images of a deployment have to do with each other: lists have parts, and some manifests say something of others. */
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

  /** What has a tag. */
  tagged(): LinkedManifest[] {
    return this.#images.tags.flatMap(({ repository, digest }) => this.at(repository, digest) ?? []);
  }

  /** What revisions name, as far as it is there. */
  named(uris: readonly string[]): LinkedManifest[] {
    return uris.flatMap((uri) => this.#meant(imageNamed(uri)) ?? []);
  }

  /** A list that the manifest is a part of. */
  listWith({ repository, digest }: LinkedManifest): LinkedManifest | undefined {
    return this.#images.manifests.find((each) => each.repository === repository && each.parts.includes(digest));
  }

  /** The manifests, and those they consist of, however deep. */
  consistingOf(manifests: Iterable<LinkedManifest>): Set<LinkedManifest> {
    const found = new Set(manifests);
    for (const each of found) {
      for (const part of this.#partsOf(each)) found.add(part);
    }
    return found;
  }

  /**
   * The manifests with all that hangs on them: what they consist of and what says something of them, however deep. Left out is what
   * is needed, and what hangs on any other manifest too.
   */
  hangingOn(manifests: Iterable<LinkedManifest>, needed: Iterable<LinkedManifest>): Set<LinkedManifest> {
    const hanging = this.#closure(manifests);
    const others = this.#images.manifests.filter((each) => !hanging.has(each));
    for (const each of this.#closure([...needed, ...others])) hanging.delete(each);
    return hanging;
  }

  #meant(name: ImageName | null): LinkedManifest | undefined {
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
