import type { LinkedManifest } from './deployment-images.ts';
import { ImageGraph, type ImageName, imageNamed, type PushedImages, type Tag } from './image-graph.ts';
import { RegistryError } from './registry-error.ts';

/** The manifests and tags that a deletion removes, and the manifests that it leaves. */
export interface Deletion {
  tags: Tag[];
  gone: Set<LinkedManifest>;
  left: LinkedManifest[];
}

/**
 * Plans the deletion of a tag or a manifest.
 *
 * A manifest is deleted with its tags, its parts and its referrers; a tag with its manifest. Everything stays that has
 * another tag, that a revision names, or that belongs to another image.
 *
 * @param kept names of the images of revisions that run or can be deployed again
 * @throws RegistryError MANIFEST_UNKNOWN, and DENIED for what such a revision or a list of images needs
 */
export function deletionOf(images: PushedImages, kept: readonly string[], name: ImageName): Deletion {
  return name.version.includes(':') ? ofManifest(images, kept, name) : ofTag(images, kept, name);
}

function ofTag(
  { manifests, tags }: PushedImages,
  kept: readonly string[],
  { repository, version }: ImageName,
): Deletion {
  const tag = tags.find((each) => each.repository === repository && each.tag === version);
  if (!tag) throw unknown(version);
  const user = kept.find((uri) => {
    const name = imageNamed(uri);
    return name?.repository === repository && name.version === version;
  });
  if (user !== undefined) throw inUse(user);
  const others = tags.filter((each) => each !== tag);
  const manifest = manifests.find((each) => each.repository === repository && each.digest === tag.digest);
  return deletion({ manifests, tags: others }, kept, { tags: [tag], manifests: manifest ? [manifest] : [] });
}

function ofManifest(images: PushedImages, kept: readonly string[], { repository, version }: ImageName): Deletion {
  const graph = new ImageGraph(images);
  const manifest = graph.at(repository, version);
  if (!manifest) throw unknown(version);
  const user = kept.find((uri) => graph.consistingOf(graph.named([uri])).has(manifest));
  if (user !== undefined) throw inUse(user);
  const list = graph.listWith(manifest);
  if (list) throw new RegistryError('DENIED', `It is a part of ${list.digest}, which has to be deleted first.`);
  // The manifest is deleted although its subject stays.
  const alone = { ...manifest, subject: null };
  const manifests = images.manifests.map((each) => (each === manifest ? alone : each));
  const isItsTag = (tag: Tag) => tag.repository === repository && tag.digest === version;
  const tags = images.tags.filter((tag) => !isItsTag(tag));
  return deletion({ manifests, tags }, kept, { tags: images.tags.filter(isItsTag), manifests: [alone] });
}

/** @param images without the tags to delete */
function deletion(
  images: PushedImages,
  kept: readonly string[],
  { tags, manifests }: { tags: Tag[]; manifests: LinkedManifest[] },
): Deletion {
  const graph = new ImageGraph(images);
  const gone = graph.hangingOn(manifests, [...graph.named(kept), ...graph.tagged()]);
  return { tags, gone, left: images.manifests.filter((each) => !gone.has(each)) };
}

const unknown = (version: string) => new RegistryError('MANIFEST_UNKNOWN', `There is no manifest ${version}.`);
const inUse = (uri: string) =>
  new RegistryError('DENIED', `A revision that runs or can be deployed again needs it, as ${uri}.`);
