import type { ReplicaRole } from '@runyard/deployments';
import type { RunningRevision } from '../driver.ts';
import { LABELS } from '../labels.ts';

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
