import type { RevisionStatus } from '@runyard/contracts';

/** Statuses nothing follows: clients stop asking. */
export const TERMINAL: readonly RevisionStatus[] = [
  'DEPLOYED',
  'CREATE_FAILED',
  'BUILD_FAILED',
  'DEPLOY_FAILED',
  'SKIPPED',
  'INTERRUPTED',
];

/** What may follow what. `UNKNOWN` is a revision whose data plane is silent; any report ends it. */
export const TRANSITIONS: Readonly<Record<RevisionStatus, readonly RevisionStatus[]>> = {
  CREATING: ['QUEUED', 'CREATE_FAILED', 'INTERRUPTED', 'UNKNOWN'],
  QUEUED: ['AWAITING_BUILD', 'AWAITING_DEPLOY', 'SKIPPED', 'INTERRUPTED', 'UNKNOWN'],
  AWAITING_BUILD: ['BUILDING', 'SKIPPED', 'INTERRUPTED', 'UNKNOWN'],
  BUILDING: ['AWAITING_DEPLOY', 'BUILD_FAILED', 'INTERRUPTED', 'UNKNOWN'],
  AWAITING_DEPLOY: ['DEPLOYING', 'INTERRUPTED', 'UNKNOWN'],
  DEPLOYING: ['DEPLOYED', 'DEPLOY_FAILED', 'INTERRUPTED', 'UNKNOWN'],
  DEPLOYED: [],
  CREATE_FAILED: [],
  BUILD_FAILED: [],
  DEPLOY_FAILED: [],
  SKIPPED: [],
  INTERRUPTED: [],
  UNKNOWN: [
    'CREATING',
    'QUEUED',
    'AWAITING_BUILD',
    'BUILDING',
    'AWAITING_DEPLOY',
    'DEPLOYING',
    'DEPLOYED',
    'CREATE_FAILED',
    'BUILD_FAILED',
    'DEPLOY_FAILED',
    'SKIPPED',
    'INTERRUPTED',
  ],
};

export function mayFollow(from: RevisionStatus, to: RevisionStatus): boolean {
  return TRANSITIONS[from].includes(to);
}

/** Every status a revision may have had before this one. */
export function predecessorsOf(to: RevisionStatus): RevisionStatus[] {
  return (Object.keys(TRANSITIONS) as RevisionStatus[]).filter((from) => mayFollow(from, to));
}
