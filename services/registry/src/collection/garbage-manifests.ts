import type { NamedImages } from '@runyard/contracts';
import type { LinkedManifest } from '../stored-images/linked-manifests.ts';
import { ImageGraph, type PushedImages } from './image-graph.ts';

/**
 * Returns the manifests that only old revisions name, with their parts and referrers. Manifests that have a tag, or
 * that no revision ever named, stay: somebody may have pushed them for another use or for the next revision.
 */
export function findGarbageManifests(images: PushedImages, { kept, old }: NamedImages): Set<LinkedManifest> {
  const graph = new ImageGraph(images);
  return graph.findDependents(graph.findNamed(old), [...graph.findNamed(kept), ...graph.findTagged()]);
}
