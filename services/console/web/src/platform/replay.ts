import type {
  AssistantVersion,
  JournalRun,
  Run,
  RunSearchPage,
  Thread,
  ThreadCreate,
  ThreadState,
} from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask, PlatformError } from './ask.ts';
import { at } from './path.ts';
import type { RunPlace } from './runs.ts';
import type { ThreadPlace } from './threads.ts';

const HISTORY_PAGE = 500;
/** Pages of one history that are read at most. */
const PAGES_MAX = 20;
const VERSIONS_MAX = 100;
const SHADOWS_MAX = 50;
/** The fields of a checkpoint that say how a run went: all but values and results, which may be large. */
const STEP_FIELDS = ['checkpoint_id', 'parent_checkpoint_id', 'created_at', 'metadata', 'next'] as const;

/** A checkpoint of a run, without its values. */
export type RunCheckpoint = Pick<ThreadState, (typeof STEP_FIELDS)[number]>;

const threadPath = ({ deploymentId, threadId }: Omit<RunPlace, 'runId'>) =>
  at`/deployments/${deploymentId}/threads/${threadId}`;

/** The checkpoints that a run has made in the root graph, newest first. */
export function runCheckpointsQuery(place: RunPlace) {
  return queryOptions({
    queryKey: ['run', place.workspaceId, place.runId, 'checkpoints'],
    queryFn: ({ signal }) => listRunCheckpoints(place, signal),
  });
}

/** Lists the checkpoints of a run, newest first; none where its thread is not there any more. @throws PlatformError */
export async function listRunCheckpoints(place: RunPlace, signal?: AbortSignal): Promise<RunCheckpoint[]> {
  const all: RunCheckpoint[] = [];
  for await (const page of readHistory(place, { run_id: place.runId }, signal)) all.push(...page);
  return all;
}

/** Reads the checkpoints of a thread page by page, newest first. @throws PlatformError */
export async function* readHistory(
  place: ThreadPlace,
  metadata: Record<string, unknown> | undefined,
  signal?: AbortSignal,
): AsyncGenerator<RunCheckpoint[]> {
  let before: string | null | undefined;
  for (let count = 0; count < PAGES_MAX; count++) {
    const body = { limit: HISTORY_PAGE, select: STEP_FIELDS, ...(metadata && { metadata }), ...(before && { before }) };
    const page = await orEmpty(
      ask<RunCheckpoint[]>(at`${threadPath(place)}/history`, {
        method: 'POST',
        workspaceId: place.workspaceId,
        signal,
        body,
      }),
    );
    yield page;
    before = page.at(-1)?.checkpoint_id;
    if (page.length < HISTORY_PAGE || !before) return;
  }
}

/** Reads a checkpoint without its values; null where the thread does not have it any more. @throws PlatformError */
export async function readCheckpoint(
  place: ThreadPlace,
  checkpointId: string,
  signal?: AbortSignal,
): Promise<RunCheckpoint | null> {
  const checkpoint = await ask<RunCheckpoint>(at`${threadPath(place)}/state/checkpoint`, {
    method: 'POST',
    workspaceId: place.workspaceId,
    signal,
    body: { checkpoint: { checkpoint_id: checkpointId }, select: STEP_FIELDS },
  });
  // One that is not there is answered with an empty state.
  return checkpoint.metadata === null ? null : checkpoint;
}

/** Returns whether a thread had a run before another one, as the journal knows it. @throws PlatformError */
export async function hasOlderRun(
  { workspaceId, threadId }: RunPlace,
  run: Run,
  signal?: AbortSignal,
): Promise<boolean> {
  const { runs } = await searchJournal(
    workspaceId,
    { thread_ids: [threadId], created_before: run.created_at, limit: 2 },
    signal,
  );
  return runs.some(({ run_id: id }) => id !== run.run_id);
}

/** Lists the versions of an assistant, newest first; none where it is not there any more. @throws PlatformError */
export function listVersions(
  { workspaceId, deploymentId }: RunPlace,
  assistantId: string,
  signal?: AbortSignal,
): Promise<AssistantVersion[]> {
  return orEmpty(
    ask<AssistantVersion[]>(at`/deployments/${deploymentId}/assistants/${assistantId}/versions`, {
      method: 'POST',
      workspaceId,
      signal,
      body: { limit: VERSIONS_MAX },
    }),
  );
}

/** The shadows of a run, newest first. */
export function shadowsQuery(workspaceId: string, runId: string) {
  return queryOptions({
    queryKey: ['runs', workspaceId, 'shadows', runId],
    queryFn: async ({ signal }): Promise<JournalRun[]> => {
      const { runs } = await searchJournal(workspaceId, { metadata: { replay_of: runId }, limit: SHADOWS_MAX }, signal);
      return runs;
    },
  });
}

/** Makes a thread. @throws PlatformError */
export function createThread(
  { workspaceId, deploymentId }: Omit<ThreadPlace, 'threadId'>,
  body: ThreadCreate,
): Promise<Thread> {
  return ask<Thread>(at`/deployments/${deploymentId}/threads`, { method: 'POST', workspaceId, body });
}

function searchJournal(workspaceId: string, body: object, signal?: AbortSignal): Promise<RunSearchPage> {
  return ask<RunSearchPage>(at`/v2/runs/search`, { method: 'POST', workspaceId, signal, body });
}

async function orEmpty<Item>(asked: Promise<Item[]>): Promise<Item[]> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof PlatformError && error.status === 404) return [];
    throw error;
  }
}
