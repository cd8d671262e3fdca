import type { LinkedManifest } from './deployment-images.ts';
import { ImageGraph, type PushedImages } from './image-graph.ts';
import type { NamedImages } from './named-images.ts';

/**
 * Returns the manifests that only old revisions name, with their parts and referrers. Manifests that have a tag, or
 * that no revision ever named, stay: somebody may have pushed them for another use or for the next revision.
 */
export function unneededManifests(images: PushedImages, { kept, old }: NamedImages): Set<LinkedManifest> {
  const graph = new ImageGraph(images);
  return graph.hangingOn(graph.named(old), [...graph.named(kept), ...graph.tagged()]);
}
