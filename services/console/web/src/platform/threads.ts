import type {
  ProtocolError,
  ProtocolSuccess,
  Run,
  RunCreateStateful,
  Thread,
  ThreadSearchRequest,
  ThreadState,
  ThreadStateUpdate,
} from '@runyard/contracts';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { ask, askForAnswer } from './ask.ts';
import { at } from './path.ts';

/** The ids that lead to a thread. */
export interface ThreadPlace {
  workspaceId: string;
  deploymentId: string;
  threadId: string;
}

/** A question that a thread asks a person. */
export type Question = NonNullable<Thread['interrupts']>[string][number];

export interface ThreadFilters {
  status?: string | undefined;
  /** `key=value` pairs with commas between them. */
  metadata?: string | undefined;
}

/** The fields that a list of threads shows: no values, which may be large. */
const LISTED = ['thread_id', 'created_at', 'updated_at', 'metadata', 'status', 'error'] as const;
export type ListedThread = Pick<Thread, (typeof LISTED)[number]>;
/** The fields that a history shows of a checkpoint: all but its values. */
const CHECKPOINT_FIELDS = [
  'checkpoint_id',
  'parent_checkpoint_id',
  'created_at',
  'metadata',
  'next',
  'tasks',
  'interrupts',
];
export type ListedCheckpoint = Omit<ThreadState, 'values' | 'checkpoint' | 'parent_checkpoint'>;

const THREADS_PAGE = 50;
const HISTORY_PAGE = 50;
const RUNS_PAGE = 50;

const pathOf = ({ deploymentId, threadId }: ThreadPlace) => at`/deployments/${deploymentId}/threads/${threadId}`;
const keyOf = ({ workspaceId, deploymentId, threadId }: ThreadPlace) => [workspaceId, deploymentId, threadId] as const;

/** A thread with the values of its newest checkpoint. */
export function threadQuery(place: ThreadPlace) {
  return queryOptions({
    queryKey: ['thread', ...keyOf(place)],
    queryFn: ({ signal }) => ask<Thread>(pathOf(place), { workspaceId: place.workspaceId, signal }),
  });
}

/** The state of a thread at a checkpoint of the graph in `namespace`; without a checkpoint the newest there. */
export function threadStateQuery(place: ThreadPlace, checkpointId: string | undefined, namespace = '') {
  return queryOptions({
    queryKey: ['thread-state', ...keyOf(place), checkpointId ?? null, namespace],
    queryFn: ({ signal }) => readThreadState(place, { checkpointId, namespace }, signal),
    // A checkpoint never changes, though what its tasks came to may still come.
    ...(checkpointId !== undefined && { staleTime: 10_000 }),
  });
}

/** Reads the state at a checkpoint of the root graph, or of a subgraph. @throws PlatformError */
export function readThreadState(
  place: ThreadPlace,
  { checkpointId, namespace = '' }: { checkpointId?: string | undefined; namespace?: string },
  signal?: AbortSignal,
): Promise<ThreadState> {
  const { workspaceId } = place;
  if (namespace !== '')
    return ask<ThreadState>(at`${pathOf(place)}/state/checkpoint`, {
      method: 'POST',
      workspaceId,
      signal,
      body: {
        checkpoint: { checkpoint_ns: namespace, ...(checkpointId !== undefined && { checkpoint_id: checkpointId }) },
      },
    });
  const path = checkpointId === undefined ? at`${pathOf(place)}/state` : at`${pathOf(place)}/state/${checkpointId}`;
  return ask<ThreadState>(path, { workspaceId, signal });
}

/** Reads the newest state with those of the subgraphs that wait under it. @throws PlatformError */
export function readNestedState(place: ThreadPlace): Promise<ThreadState> {
  const { workspaceId } = place;
  return ask<ThreadState>(at`${pathOf(place)}/state`, { workspaceId, query: { subgraphs: true } });
}

/** Writes to the state of a thread, and thereby makes a checkpoint. @throws PlatformError */
export async function updateThreadState(place: ThreadPlace, update: ThreadStateUpdate): Promise<string> {
  const { checkpoint_id: id } = await ask<{ checkpoint_id: string }>(at`${pathOf(place)}/state`, {
    method: 'POST',
    workspaceId: place.workspaceId,
    body: update,
  });
  return id;
}

/** Makes a run on a thread. @throws PlatformError */
export function createRun(place: ThreadPlace, request: RunCreateStateful): Promise<Run> {
  return ask<Run>(at`${pathOf(place)}/runs`, { method: 'POST', workspaceId: place.workspaceId, body: request });
}

/** The checkpoints of the graph in `namespace`, newest first, in pages and without their values. */
export function threadHistoryQuery(place: ThreadPlace, namespace = '') {
  return infiniteQueryOptions({
    queryKey: ['thread-history', ...keyOf(place), namespace],
    queryFn: ({ signal, pageParam }) => listCheckpoints(place, { namespace, before: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (page.length < HISTORY_PAGE ? undefined : page.at(-1)?.checkpoint_id),
  });
}

/** Lists a page of checkpoints, newest first. @throws PlatformError */
export function listCheckpoints(
  place: ThreadPlace,
  { namespace, before = null }: { namespace: string; before?: string | null | undefined },
  signal?: AbortSignal,
): Promise<ListedCheckpoint[]> {
  return ask<ListedCheckpoint[]>(at`${pathOf(place)}/history`, {
    method: 'POST',
    workspaceId: place.workspaceId,
    signal,
    body: {
      limit: HISTORY_PAGE,
      select: CHECKPOINT_FIELDS,
      ...(namespace !== '' && { checkpoint: { checkpoint_ns: namespace } }),
      ...(before !== null && { before }),
    },
  });
}

/** The runs of a thread, newest first, in pages. */
export function threadRunsQuery(place: ThreadPlace) {
  return infiniteQueryOptions({
    queryKey: ['thread-runs', ...keyOf(place)],
    queryFn: ({ signal, pageParam }) =>
      ask<Run[]>(at`${pathOf(place)}/runs`, {
        workspaceId: place.workspaceId,
        signal,
        query: { limit: RUNS_PAGE, offset: pageParam },
      }),
    initialPageParam: 0,
    getNextPageParam: (page, _, offset) => (page.length < RUNS_PAGE ? undefined : offset + RUNS_PAGE),
  });
}

/** The threads of a deployment, the last changed first, in pages and without their values. */
export function threadsQuery(workspaceId: string, deploymentId: string, filters: ThreadFilters) {
  return infiniteQueryOptions({
    queryKey: ['threads', workspaceId, deploymentId, filters],
    queryFn: ({ signal, pageParam }) =>
      searchThreads<ListedThread>(
        { workspaceId, deploymentId },
        {
          ...(filters.status !== undefined && { status: filters.status as Thread['status'] }),
          ...(filters.metadata !== undefined && { metadata: parseMetadataFilter(filters.metadata) }),
          limit: THREADS_PAGE,
          offset: pageParam,
          select: [...LISTED],
        },
        signal,
      ),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
    // A page that is returned to shows what it did, also where thousands were scrolled through.
    staleTime: 30_000,
  });
}

export interface ThreadsPage<Item> {
  threads: Item[];
  /** Exact up to 10,000. */
  total: number;
  next: number | undefined;
}

/** Searches the threads of a deployment. @throws PlatformError */
export async function searchThreads<Item = Thread>(
  { workspaceId, deploymentId }: Omit<ThreadPlace, 'threadId'>,
  request: ThreadSearchRequest,
  signal?: AbortSignal,
): Promise<ThreadsPage<Item>> {
  const { body, headers } = await askForAnswer(at`/deployments/${deploymentId}/threads/search`, {
    method: 'POST',
    workspaceId,
    signal,
    body: request,
  });
  const next = headers.get('x-pagination-next');
  return {
    threads: body as Item[],
    total: Number(headers.get('x-pagination-total')),
    next: next === null ? undefined : Number(next),
  };
}

/** Reads `a=1,b=x`: values that are JSON count as such, others are texts. */
export function parseMetadataFilter(text: string): Record<string, unknown> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    return at < 1 || name === '' ? [] : [[name, scalarOf(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function scalarOf(text: string): unknown {
  return /^(true|false|null|-?\d+(\.\d+)?)$/.test(text) ? JSON.parse(text) : text.replace(/^"(.*)"$/, '$1');
}

/** Merges metadata into a thread, key by key. @throws PlatformError */
export function patchThreadMetadata(place: ThreadPlace, metadata: Record<string, unknown>): Promise<Thread> {
  return ask<Thread>(pathOf(place), { method: 'PATCH', workspaceId: place.workspaceId, body: { metadata } });
}

/** Deletes a thread with its runs and checkpoints. @throws PlatformError */
export async function deleteThread(place: ThreadPlace): Promise<void> {
  await ask(pathOf(place), { method: 'DELETE', workspaceId: place.workspaceId });
}

/** Copies a thread with its history. @throws PlatformError */
export function copyThread(place: ThreadPlace): Promise<Thread> {
  return ask<Thread>(at`${pathOf(place)}/copy`, { method: 'POST', workspaceId: place.workspaceId, body: {} });
}

/** The outcome of an answer: of two people who answer one question, one is too late. */
export type AnswerOutcome = { type: 'taken'; runId: string } | { type: 'too-late' };

/**
 * Answers one question of a thread.
 *
 * @throws PlatformError; Error with the sentence of a refusal
 */
export async function answerInterrupt(
  place: ThreadPlace,
  interruptId: string,
  response: unknown,
): Promise<AnswerOutcome> {
  const answer = await ask<ProtocolSuccess | ProtocolError>(at`${pathOf(place)}/commands`, {
    method: 'POST',
    workspaceId: place.workspaceId,
    body: { id: 1, method: 'input.respond', params: { namespace: [], interrupt_id: interruptId, response } },
  });
  if (answer.type === 'success') return { type: 'taken', runId: String(answer.result.run_id) };
  if (answer.error === 'no_such_interrupt') return { type: 'too-late' };
  throw new Error(answer.message);
}

/** Goes on from where a thread stands, for example from a breakpoint. @throws PlatformError */
export function goOn(place: ThreadPlace, assistantId: string): Promise<Run> {
  return createRun(place, { assistant_id: assistantId, input: null });
}
