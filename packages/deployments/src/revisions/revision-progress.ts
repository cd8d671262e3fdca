import type { RevisionStatus } from '@runyard/contracts';

/** The statuses of a roll-out in order. Sources without a build leave out two of them. */
const PROGRESS: readonly RevisionStatus[] = [
  'CREATING',
  'QUEUED',
  'AWAITING_BUILD',
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
  'DEPLOYED',
];

/**
 * Returns whether a revision with this status has reached `stage` and has not failed, been skipped or been interrupted.
 */
export function hasReached(status: string, stage: RevisionStatus): boolean {
  const position = PROGRESS.indexOf(status as RevisionStatus);
  return position >= 0 && position >= PROGRESS.indexOf(stage);
}

/** Returns whether nothing was done for it yet that a newer revision would have to wait for. */
export function isWaiting(status: string): boolean {
  return hasReached(status, 'CREATING') && !hasReached(status, 'BUILDING');
}
