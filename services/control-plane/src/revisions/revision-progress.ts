import type { RevisionStatus } from '@runyard/contracts';

/** On its way to being deployed, in order. Sources that are not built leave two of them out. */
const PROGRESS: readonly RevisionStatus[] = [
  'CREATING',
  'QUEUED',
  'AWAITING_BUILD',
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
  'DEPLOYED',
];

/** Whether a revision with this status has come as far as `stage`, and was not ended otherwise. */
export function hasReached(status: string, stage: RevisionStatus): boolean {
  const position = PROGRESS.indexOf(status as RevisionStatus);
  return position >= 0 && position >= PROGRESS.indexOf(stage);
}

/** Nothing was done for it yet that a newer one would have to wait for. */
export function isWaiting(status: string): boolean {
  return hasReached(status, 'CREATING') && !hasReached(status, 'BUILDING');
}
