import type { ReplicaRole } from './scale-bounds.ts';

/** Returns whether a name has the form of this driver's names, of any deployment. */
export function isOwnName(name: string): boolean {
  return /^r-[0-9a-f]{32}-/.test(name);
}

/** Returns an object's name, short enough that the cluster can append to it for the names of pods. */
export function objectName(revisionId: string, part: ReplicaRole | 'secrets' | 'pull'): string {
  return `r-${revisionId.replaceAll('-', '')}-${part}`;
}
