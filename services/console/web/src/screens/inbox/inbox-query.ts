import type { Deployment, ThreadState } from '@runyard/contracts';
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { ask, PlatformError } from '../../platform/ask.ts';
import { at } from '../../platform/path.ts';
import { searchThreads, type ThreadPlace } from '../../platform/threads.ts';
import { type InboxItem, itemOf, questionsOf, type WaitingThread } from './inbox-items.ts';

export interface Inbox {
  items: InboxItem[];
  /** True if deployments have more threads than were asked for. */
  hasMore: boolean;
  /** The deployments that could not be asked, with why. */
  faults: { name: string; error: unknown }[];
}

const PARALLEL = 4;
/** So many threads without a question are looked at, for each deployment. */
const BREAKPOINTS_MAX = 20;
const FIELDS = ['thread_id', 'metadata', 'interrupts', 'updated_at', 'state_updated_at', 'error'] as const;

/** Everything that waits for a person in the given deployments, `limit` threads of each at most. */
export function inboxQuery(
  queryClient: QueryClient,
  workspaceId: string,
  deployments: readonly Deployment[],
  limit: number,
) {
  return queryOptions({
    queryKey: ['inbox', workspaceId, deployments.map(({ id }) => id), limit],
    queryFn: ({ signal }) => readInbox(queryClient, workspaceId, deployments, limit, signal),
  });
}

async function readInbox(
  queryClient: QueryClient,
  workspaceId: string,
  deployments: readonly Deployment[],
  limit: number,
  signal: AbortSignal,
): Promise<Inbox> {
  const inbox: Inbox = { items: [], hasMore: false, faults: [] };
  await eachOf(deployments, PARALLEL, async (deployment) => {
    try {
      const { threads, next } = await searchThreads<WaitingThread>(
        { workspaceId, deploymentId: deployment.id },
        { status: 'interrupted', sort_by: 'state_updated_at', sort_order: 'desc', limit, select: [...FIELDS] },
        signal,
      );
      inbox.hasMore ||= next !== undefined;
      inbox.items.push(...(await itemsOf(queryClient, workspaceId, deployment, threads)));
    } catch (error) {
      signal.throwIfAborted();
      inbox.faults.push({ name: deployment.display_name ?? deployment.name, error });
    }
  });
  return inbox;
}

async function itemsOf(
  queryClient: QueryClient,
  workspaceId: string,
  deployment: Deployment,
  threads: readonly WaitingThread[],
): Promise<InboxItem[]> {
  const nexts = new Map<string, string[]>();
  const silent = threads.filter((thread) => questionsOf(thread).length === 0).slice(0, BREAKPOINTS_MAX);
  await eachOf(silent, PARALLEL, async ({ thread_id: threadId, state_updated_at: at }) => {
    const place = { workspaceId, deploymentId: deployment.id, threadId };
    try {
      nexts.set(threadId, await queryClient.fetchQuery(nextNodesQuery(place, at)));
    } catch (error) {
      // A thread that was deleted meanwhile waits for nobody, and hides no other.
      if (!(error instanceof PlatformError && error.status === 404)) throw error;
    }
  });
  return threads.flatMap((thread) => itemOf(deployment, thread, nexts.get(thread.thread_id) ?? []) ?? []);
}

/** The nodes that a thread goes on with, as long as its state is that of a moment. */
function nextNodesQuery({ workspaceId, deploymentId, threadId }: ThreadPlace, changedAt: string) {
  return queryOptions({
    queryKey: ['next-nodes', workspaceId, deploymentId, threadId, changedAt],
    queryFn: async ({ signal }) => {
      const path = at`/deployments/${deploymentId}/threads/${threadId}/state`;
      const { next } = await ask<Pick<ThreadState, 'next'>>(path, { workspaceId, signal, query: { select: 'next' } });
      return next;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Does something with each, a few at a time. */
async function eachOf<Item>(
  items: readonly Item[],
  parallel: number,
  action: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await action(item);
  };
  await Promise.all(Array.from({ length: parallel }, work));
}
