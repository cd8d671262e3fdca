import type { Assistant, GraphSchema } from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask, askForAnswer } from './ask.ts';
import { at } from './path.ts';

const PAGE = 100;
/** Assistants that a choice shows: of more than these one is found by its name. */
const MAX = 1_000;

/** The assistants of a deployment, by name. */
export function assistantsQuery(workspaceId: string, deploymentId: string) {
  return queryOptions({
    queryKey: ['assistants', workspaceId, deploymentId],
    queryFn: ({ signal }) => listAssistants(workspaceId, deploymentId, signal),
    staleTime: 30_000,
  });
}

/** The JSON Schemas of what the graph of an assistant takes and gives. */
export function assistantSchemasQuery(workspaceId: string, deploymentId: string, assistantId: string) {
  return queryOptions({
    queryKey: ['assistant-schemas', workspaceId, deploymentId, assistantId],
    queryFn: ({ signal }) =>
      ask<GraphSchema>(at`/deployments/${deploymentId}/assistants/${assistantId}/schemas`, { workspaceId, signal }),
    staleTime: 60_000,
  });
}

async function listAssistants(workspaceId: string, deploymentId: string, signal: AbortSignal): Promise<Assistant[]> {
  const all: Assistant[] = [];
  while (all.length < MAX) {
    const { body, headers } = await askForAnswer(at`/deployments/${deploymentId}/assistants/search`, {
      method: 'POST',
      workspaceId,
      signal,
      body: { limit: PAGE, offset: all.length, sort_by: 'name', sort_order: 'asc' },
    });
    const page = body as Assistant[];
    all.push(...page);
    if (page.length === 0 || headers.get('x-pagination-next') === null) break;
  }
  return all;
}
