import type { ThreadState } from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { at } from './path.ts';
import type { RunPlace } from './runs.ts';

/** The state of a thread at a checkpoint, of the graph of `namespace`. It never changes. */
export function checkpointStateQuery(
  { workspaceId, deploymentId, threadId }: Omit<RunPlace, 'runId'>,
  { id, namespace }: { id: string; namespace: string },
) {
  return queryOptions({
    queryKey: ['state', workspaceId, deploymentId, threadId, namespace, id],
    queryFn: ({ signal }) =>
      ask<Pick<ThreadState, 'values' | 'next'>>(at`/deployments/${deploymentId}/threads/${threadId}/state/checkpoint`, {
        method: 'POST',
        workspaceId,
        signal,
        body: { checkpoint: { checkpoint_id: id, checkpoint_ns: namespace }, select: ['values', 'next'] },
      }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
