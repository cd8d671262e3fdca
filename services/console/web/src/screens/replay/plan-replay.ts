import type { AssistantVersion, Run } from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask, PlatformError } from '../../platform/ask.ts';
import { at } from '../../platform/path.ts';
import {
  hasOlderRun,
  listRunCheckpoints,
  listVersions,
  type RunCheckpoint,
  readCheckpoint,
  readHistory,
} from '../../platform/replay.ts';
import type { RunPlace } from '../../platform/runs.ts';
import { ownCheckpoints, type RunStart, startOf, startWithoutCheckpoints } from './run-start.ts';
import { refuseRun, refuseStart } from './shadow-request.ts';

/** All that a shadow of a run is made of. */
export interface ReplayPlan {
  place: RunPlace;
  run: Run;
  start: RunStart;
  /** The checkpoint that the run began from; null where it began with nothing. */
  checkpoint: RunCheckpoint | null;
  /** The versions of the assistant of the run. */
  versions: AssistantVersion[];
}

export type PlannedReplay = { plan: ReplayPlan; refusal?: undefined } | { plan?: undefined; refusal: string };

/** How a run can be replayed, or why it cannot. */
export function replayPlanQuery(place: RunPlace) {
  return queryOptions({
    queryKey: ['run', place.workspaceId, place.runId, 'replay-plan'],
    queryFn: ({ signal }) => planReplay(place, signal),
  });
}

/** Finds out with what a run began. @throws PlatformError */
export async function planReplay(place: RunPlace, signal?: AbortSignal): Promise<PlannedReplay> {
  const run = await readRun(place, signal);
  const refusal = refuseRun(run);
  if (refusal !== undefined || !run) return { refusal: refusal ?? '' };
  const [{ start, checkpoint }, versions] = await Promise.all([
    findStart(place, run, signal),
    listVersions(place, run.assistant_id, signal),
  ]);
  const startRefusal = refuseStart(run, start);
  return startRefusal === undefined ? { plan: { place, run, start, checkpoint, versions } } : { refusal: startRefusal };
}

async function readRun({ workspaceId, deploymentId, threadId, runId }: RunPlace, signal?: AbortSignal) {
  try {
    return await ask<Run>(at`/deployments/${deploymentId}/threads/${threadId}/runs/${runId}`, { workspaceId, signal });
  } catch (error) {
    if (error instanceof PlatformError && error.status === 404) return null;
    throw error;
  }
}

interface FoundStart {
  start: RunStart;
  checkpoint: RunCheckpoint | null;
}

async function findStart(place: RunPlace, run: Run, signal?: AbortSignal): Promise<FoundStart> {
  const own = ownCheckpoints(await listRunCheckpoints(place, signal));
  const start = startOf(run, own) ?? startWithoutCheckpoints(run, await readUntil(place, run, signal));
  if (start.type === 'checkpoint') {
    const checkpoint = await readCheckpoint(place, start.id, signal);
    return { start: checkpoint ? start : { type: 'lost' }, checkpoint };
  }
  const isEmpty = start.type === 'unclear' && !(await hasOlderRun(place, run, signal));
  return { start: isEmpty ? { type: 'empty' } : start, checkpoint: null };
}

/** Reads the history of a thread back to before the end of a run, which has no checkpoint of its own. */
async function readUntil(place: RunPlace, run: Run, signal?: AbortSignal): Promise<RunCheckpoint[]> {
  const history: RunCheckpoint[] = [];
  for await (const page of readHistory(place, undefined, signal)) {
    history.push(...page);
    const oldest = page.at(-1)?.created_at;
    if (oldest && Date.parse(oldest) <= Date.parse(run.updated_at)) break;
  }
  return history;
}
