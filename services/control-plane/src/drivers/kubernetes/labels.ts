import { LABELS } from '../container/run-arguments.ts';
import type { RunningRevision } from '../driver.ts';
import type { ReplicaRole } from '../scale-bounds.ts';

/** Labels every object of this driver, so that later processes find it. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'runyard' };

type Owner = Pick<RunningRevision, 'deploymentId' | 'revisionId'>;

export function labelsOf({ deploymentId, revisionId }: Owner, role?: ReplicaRole): Record<string, string> {
  return {
    ...MANAGED_BY,
    [LABELS.deployment]: deploymentId,
    [LABELS.revision]: revisionId,
    ...(role && { [LABELS.part]: role }),
  };
}

/** Returns the label selector for objects that have all of these labels. */
export function selectorOf(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

/** Returns whether a name has the form of this driver's names, of any deployment. */
export function isOwnName(name: string): boolean {
  return /^r-[0-9a-f]{32}-/.test(name);
}

/** Returns an object's name, short enough that the cluster can append to it for the names of pods. */
export function objectName(revisionId: string, part: ReplicaRole | 'secrets' | 'pull'): string {
  return `r-${revisionId.replaceAll('-', '')}-${part}`;
}
