import type { GraphDrawing, Subgraphs } from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask } from '../../platform/ask.ts';
import { at } from '../../platform/path.ts';
import type { ThreadPlace } from '../../platform/threads.ts';

type Deployment = Pick<ThreadPlace, 'workspaceId' | 'deploymentId'>;

const FRESH_MS = 60_000;

/** The nodes of the graph of an assistant, those of subgraphs as `subgraph:node`. */
export function nodeIdsQuery({ workspaceId, deploymentId }: Deployment, assistantId: string) {
  return queryOptions({
    queryKey: ['assistant-nodes', workspaceId, deploymentId, assistantId],
    queryFn: async ({ signal }) => {
      const path = at`/deployments/${deploymentId}/assistants/${assistantId}/graph`;
      const { nodes } = await ask<GraphDrawing>(path, { workspaceId, signal, query: { xray: true } });
      return nodes.map(({ id }) => String(id));
    },
    staleTime: FRESH_MS,
  });
}

/** The schemas of the subgraphs of an assistant's graph, by their nodes: `outer|inner`. */
export function subgraphsQuery({ workspaceId, deploymentId }: Deployment, assistantId: string) {
  return queryOptions({
    queryKey: ['assistant-subgraphs', workspaceId, deploymentId, assistantId],
    queryFn: ({ signal }) =>
      ask<Subgraphs>(at`/deployments/${deploymentId}/assistants/${assistantId}/subgraphs`, {
        workspaceId,
        signal,
        query: { recurse: true },
      }),
    staleTime: FRESH_MS,
  });
}
