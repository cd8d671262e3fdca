import type {
  JournalRun,
  JournalRunDetail,
  Run,
  RunFacets,
  RunFilters,
  RunSearchPage,
  RunStatistics,
  RunStatisticsRequest,
  Thread,
} from '@runyard/contracts';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { ask, PlatformError } from './ask.ts';
import { at } from './path.ts';

const PAGE = 100;
/** Threads whose runs are cancelled at once. */
const AT_ONCE = 4;

/** Runs that have all of `filters`, and were created within so many milliseconds before now. */
export interface SelectedRuns {
  filters: RunFilters;
  withinMs: number | undefined;
}

/** Selected runs of a workspace, newest first, page by page. */
export function runsQuery(workspaceId: string, selected: SelectedRuns) {
  return infiniteQueryOptions({
    queryKey: ['runs', workspaceId, 'search', selected],
    queryFn: ({ pageParam, signal }) => searchRuns(workspaceId, selected, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: cursor }) => cursor ?? undefined,
  });
}

/** Asks for a page of runs. One without rows is passed over: it only says where the search goes on. */
export async function searchRuns(
  workspaceId: string,
  selected: SelectedRuns,
  from?: string,
  signal?: AbortSignal,
): Promise<RunSearchPage> {
  let cursor = from;
  for (;;) {
    const page = await ask<RunSearchPage>(at`/v2/runs/search`, {
      method: 'POST',
      workspaceId,
      signal,
      body: { ...filtersOf(selected), limit: PAGE, ...(cursor !== undefined && { cursor }) },
    });
    if (page.runs.length > 0 || page.next_cursor === null) return page;
    cursor = page.next_cursor;
  }
}

/** How many of the selected runs have which status, deployment, graph, assistant, error. */
export function runFacetsQuery(workspaceId: string, selected: SelectedRuns) {
  return queryOptions({
    queryKey: ['runs', workspaceId, 'facets', selected],
    queryFn: ({ signal }) =>
      ask<RunFacets>(at`/v2/runs/facets`, { method: 'POST', workspaceId, signal, body: filtersOf(selected) }),
  });
}

/** The moment that a range ends is the one at which it is asked for, so that a page that is shown again has its rows. */
function filtersOf({ filters, withinMs }: SelectedRuns): RunFilters {
  if (withinMs === undefined) return filters;
  return { ...filters, created_after: new Date(Date.now() - withinMs).toISOString() };
}

/** The numbers of runs in the range that `request` gives when it is asked for; `key` names the range. */
export function runStatisticsQuery(workspaceId: string, key: unknown, request: () => RunStatisticsRequest) {
  return queryOptions({
    queryKey: ['runs', workspaceId, 'statistics', key],
    queryFn: async ({ signal }) => {
      const body = request();
      const statistics = await ask<RunStatistics>(at`/v2/runs/statistics`, {
        method: 'POST',
        workspaceId,
        signal,
        body,
      });
      return { statistics, body };
    },
  });
}

/** The ids that lead to a run. */
export interface RunPlace {
  workspaceId: string;
  deploymentId: string;
  threadId: string;
  runId: string;
}

/** A run as the journal has it; null while, or when, it does not. */
export function journalRunQuery({ workspaceId, runId }: RunPlace) {
  return queryOptions({
    queryKey: ['run', workspaceId, runId, 'journal'],
    queryFn: ({ signal }) => orNull(ask<JournalRunDetail>(at`/v2/runs/${runId}`, { workspaceId, signal })),
  });
}

/** A run as its deployment has it; null where that has deleted it, or is no more. */
export function deploymentRunQuery({ workspaceId, deploymentId, threadId, runId }: RunPlace) {
  return queryOptions({
    queryKey: ['run', workspaceId, runId, 'deployment'],
    queryFn: ({ signal }) =>
      orNull(ask<Run>(at`/deployments/${deploymentId}/threads/${threadId}/runs/${runId}`, { workspaceId, signal })),
  });
}

/** The questions that a thread waits with, by task. */
export function threadInterruptsQuery({ workspaceId, deploymentId, threadId }: Omit<RunPlace, 'runId'>) {
  return queryOptions({
    queryKey: ['thread', workspaceId, deploymentId, threadId, 'interrupts'],
    queryFn: async ({ signal }) => {
      const [thread] = await ask<Pick<Thread, 'thread_id' | 'status' | 'interrupts' | 'metadata'>[]>(
        at`/deployments/${deploymentId}/threads/search`,
        {
          method: 'POST',
          workspaceId,
          signal,
          body: { ids: [threadId], select: ['thread_id', 'status', 'interrupts', 'metadata'], limit: 1 },
        },
      );
      return thread ?? null;
    },
  });
}

export function cancelRun({ workspaceId, deploymentId, threadId, runId }: RunPlace): Promise<unknown> {
  return ask(at`/deployments/${deploymentId}/threads/${threadId}/runs/${runId}/cancel`, {
    method: 'POST',
    workspaceId,
  });
}

/** The outcome of an order to cancel several runs. */
export interface Cancelled {
  /** Runs whose cancellation is under way. */
  cancelled: number;
  failures: { run: JournalRun; error: unknown }[];
}

/** Cancels runs, thread by thread, as an order names runs of one thread. A failure of one thread stops no other. */
export async function cancelRuns(workspaceId: string, runs: readonly JournalRun[]): Promise<Cancelled> {
  const threads = groupByThread(runs);
  const result: Cancelled = { cancelled: 0, failures: [] };
  const cancelNext = async (): Promise<void> => {
    const group = threads.pop();
    if (!group) return;
    const { deployment_id: deploymentId, thread_id: threadId } = group[0]!;
    try {
      await ask(at`/deployments/${deploymentId}/runs/cancel`, {
        method: 'POST',
        workspaceId,
        body: { thread_id: threadId, run_ids: group.map(({ run_id: id }) => id) },
      });
      result.cancelled += group.length;
    } catch (error) {
      result.failures.push(...group.map((run) => ({ run, error })));
    }
    return cancelNext();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, cancelNext));
  return result;
}

function groupByThread(runs: readonly JournalRun[]): JournalRun[][] {
  const threads = new Map<string, JournalRun[]>();
  for (const run of runs) {
    const key = `${run.deployment_id}/${run.thread_id}`;
    threads.set(key, [...(threads.get(key) ?? []), run]);
  }
  return [...threads.values()];
}

/** Returns whether a run has not ended. */
export function isActive(status: string): boolean {
  return status === 'pending' || status === 'running';
}

async function orNull<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof PlatformError && error.status === 404) return null;
    throw error;
  }
}
