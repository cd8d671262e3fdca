import type { Revision, RevisionStatus } from '@runyard/contracts';

/** `none`: this roll-out has no such stage. `unreached`: it ended before. */
export type StageState = 'done' | 'current' | 'failed' | 'ahead' | 'unreached' | 'none';

export interface Stage {
  name: 'Prepare' | 'Build' | 'Health' | 'Switch' | 'Drain';
  state: StageState;
  /** A sentence that says what happens in the stage, or has happened. */
  note: string;
}

export interface Rollout {
  status: RevisionStatus;
  source: Revision['source'];
  /** True if the revision serves. */
  isActive: boolean;
  /** Runs that other revisions still execute; undefined while that is not known. */
  draining?: number | undefined;
}

const NAMES = ['Prepare', 'Build', 'Health', 'Switch', 'Drain'] as const;
const NOTES: Record<Stage['name'], string> = {
  Prepare: 'The database of the deployment is made, and the revision waits for its turn',
  Build: 'The project is fetched, installed and loaded',
  Health: 'Its processes start, and have to answer',
  Switch: 'Requests and runs go to it from now on',
  Drain: 'The former processes finish or hand over their runs',
};

/** The stage in which a status is, and whether the roll-out failed there. `UNKNOWN`: its data plane does not answer. */
const PLACES: Partial<Record<RevisionStatus, { name: Stage['name']; note?: string; hasFailed?: true }>> = {
  CREATING: { name: 'Prepare', note: 'The database of the deployment is made' },
  QUEUED: { name: 'Prepare', note: 'It waits for its turn, or for something to run' },
  CREATE_FAILED: { name: 'Prepare', note: 'The database could not be made', hasFailed: true },
  AWAITING_BUILD: { name: 'Build', note: 'It waits for a builder' },
  BUILDING: { name: 'Build' },
  BUILD_FAILED: { name: 'Build', note: 'It could not be built', hasFailed: true },
  AWAITING_DEPLOY: { name: 'Health', note: 'It waits for a free place to start' },
  DEPLOYING: { name: 'Health' },
  DEPLOY_FAILED: { name: 'Health', note: 'It ended, or was not healthy in time', hasFailed: true },
  UNKNOWN: { name: 'Health', note: 'The data plane that does it cannot be reached; it says so as soon as it can' },
};

/** Returns the stages of a roll-out in their order, with how far it is. */
export function rolloutStages(rollout: Rollout): Stage[] {
  const { status } = rollout;
  if (status === 'DEPLOYED') return NAMES.map((name) => deployed(name, rollout));
  const place = PLACES[status];
  const reached = place ? NAMES.indexOf(place.name) : -1;
  return NAMES.map((name, index) => {
    if (!hasStage(name, rollout)) return { name, state: 'none', note: 'There is nothing to build' };
    if (!place) return { name, state: 'unreached', note: NOTES[name] };
    if (index < reached) return { name, state: 'done', note: NOTES[name] };
    if (index > reached) return { name, state: place.hasFailed ? 'unreached' : 'ahead', note: NOTES[name] };
    return { name, state: place.hasFailed ? 'failed' : 'current', note: place.note ?? NOTES[name] };
  });
}

function deployed(name: Stage['name'], rollout: Rollout): Stage {
  if (!hasStage(name, rollout)) return { name, state: 'none', note: 'There is nothing to build' };
  const { isActive, draining } = rollout;
  if (name === 'Switch')
    return { name, state: 'done', note: isActive ? 'It serves' : 'It served; a later one does now' };
  if (name !== 'Drain' || !isActive || draining === 0) return { name, state: 'done', note: NOTES[name] };
  if (draining === undefined) return { name, state: 'done', note: NOTES[name] };
  const runs = draining === 1 ? '1 run goes' : `${draining} runs go`;
  return { name, state: 'current', note: `${runs} on with the former revisions` };
}

/** A folder is used as it is, and an image is built already. */
function hasStage(name: Stage['name'], { source, status }: Rollout): boolean {
  if (name !== 'Build' || status === 'AWAITING_BUILD' || status === 'BUILDING' || status === 'BUILD_FAILED')
    return true;
  return source === 'github' || source === 'internal_source';
}
