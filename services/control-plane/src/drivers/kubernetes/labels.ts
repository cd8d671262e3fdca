import { LABELS } from '../container/run-arguments.ts';
import type { RunningRevision } from '../driver.ts';
import type { Role } from '../scale-bounds.ts';

/** On everything this driver makes, so that it is found again. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'runyard' };

type Owner = Pick<RunningRevision, 'deploymentId' | 'revisionId'>;

export function labelsOf({ deploymentId, revisionId }: Owner, role?: Role): Record<string, string> {
  return {
    ...MANAGED_BY,
    [LABELS.deployment]: deploymentId,
    [LABELS.revision]: revisionId,
    ...(role && { [LABELS.part]: role }),
  };
}

/** All with at least these labels. */
export function selectorOf(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

/** Whether a name is one of those made here, whichever deployment's. */
export function isOwnName(name: string): boolean {
  return /^r-[0-9a-f]{32}-/.test(name);
}

/** Short enough for the names of its pods, with what the cluster appends. */
export function nameOf(revisionId: string, part: Role | 'secrets' | 'pull'): string {
  return `r-${revisionId.replaceAll('-', '')}-${part}`;
}
