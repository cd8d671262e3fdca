import { RegistryError } from '../registry-error.ts';
import type { LinkedManifest } from '../stored-images/linked-manifests.ts';
import { ImageGraph, type ImageName, type PushedImages, parseImageName, type Tag } from './image-graph.ts';

/** The manifests and tags that a deletion removes, and the manifests that it leaves. */
export interface ManifestDeletion {
  tags: Tag[];
  deleted: Set<LinkedManifest>;
  remaining: LinkedManifest[];
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
export function planDeletion(images: PushedImages, kept: readonly string[], name: ImageName): ManifestDeletion {
  return name.version.includes(':') ? planManifestDeletion(images, kept, name) : planTagDeletion(images, kept, name);
}

function planTagDeletion(
  { manifests, tags }: PushedImages,
  kept: readonly string[],
  { repository, version }: ImageName,
): ManifestDeletion {
  const tag = tags.find((each) => each.repository === repository && each.tag === version);
  if (!tag) throw unknownManifest(version);
  const user = kept.find((uri) => {
    const name = parseImageName(uri);
    return name?.repository === repository && name.version === version;
  });
  if (user !== undefined) throw manifestInUse(user);
  const others = tags.filter((each) => each !== tag);
  const manifest = manifests.find((each) => each.repository === repository && each.digest === tag.digest);
  return makeDeletion({ manifests, tags: others }, kept, { tags: [tag], manifests: manifest ? [manifest] : [] });
}

function planManifestDeletion(
  images: PushedImages,
  kept: readonly string[],
  { repository, version }: ImageName,
): ManifestDeletion {
  const graph = new ImageGraph(images);
  const manifest = graph.at(repository, version);
  if (!manifest) throw unknownManifest(version);
  const user = kept.find((uri) => graph.withParts(graph.findNamed([uri])).has(manifest));
  if (user !== undefined) throw manifestInUse(user);
  const list = graph.findListOf(manifest);
  if (list) throw new RegistryError('DENIED', `It is a part of ${list.digest}, which has to be deleted first.`);
  // The manifest is deleted although its subject stays.
  const alone = { ...manifest, subject: null };
  const manifests = images.manifests.map((each) => (each === manifest ? alone : each));
  const isItsTag = (tag: Tag) => tag.repository === repository && tag.digest === version;
  const tags = images.tags.filter((tag) => !isItsTag(tag));
  return makeDeletion({ manifests, tags }, kept, { tags: images.tags.filter(isItsTag), manifests: [alone] });
}

/** @param images without the tags to delete */
function makeDeletion(
  images: PushedImages,
  kept: readonly string[],
  { tags, manifests }: { tags: Tag[]; manifests: LinkedManifest[] },
): ManifestDeletion {
  const graph = new ImageGraph(images);
  const deleted = graph.findDependents(manifests, [...graph.findNamed(kept), ...graph.findTagged()]);
  return { tags, deleted, remaining: images.manifests.filter((each) => !deleted.has(each)) };
}

const unknownManifest = (version: string) => new RegistryError('MANIFEST_UNKNOWN', `There is no manifest ${version}.`);
const manifestInUse = (uri: string) =>
  new RegistryError('DENIED', `A revision that runs or can be deployed again needs it, as ${uri}.`);
