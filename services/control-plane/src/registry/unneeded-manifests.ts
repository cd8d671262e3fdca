import type { LinkedManifest } from './deployment-images.ts';
import { ImageGraph, type PushedImages } from './image-graph.ts';
import type { NamedImages } from './named-images.ts';

/**
 * Manifests that only old revisions name, with all they consist of and what says something of them. What has a tag stays, and
 * what no revision ever named: somebody may have pushed it for something else, or for the next revision.
 */
export function unneededManifests(images: PushedImages, { kept, old }: NamedImages): Set<LinkedManifest> {
  const graph = new ImageGraph(images);
  return graph.hangingOn(graph.named(old), [...graph.named(kept), ...graph.tagged()]);
}
