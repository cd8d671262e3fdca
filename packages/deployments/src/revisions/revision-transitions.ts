import { RevisionStatus } from '@runyard/contracts';

/** The allowed transitions. A revision is `UNKNOWN` while its data plane is unresponsive; any report ends that. */
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
  UNKNOWN: RevisionStatus.anyOf.map((each) => each.const).filter((status) => status !== 'UNKNOWN'),
};

export function mayFollow(from: RevisionStatus, to: RevisionStatus): boolean {
  return TRANSITIONS[from].includes(to);
}

/** Returns the statuses from which a revision may change to this one. */
export function predecessorsOf(to: RevisionStatus): RevisionStatus[] {
  return (Object.keys(TRANSITIONS) as RevisionStatus[]).filter((from) => mayFollow(from, to));
}
