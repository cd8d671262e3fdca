import type {
  Assistant,
  AssistantCreate,
  AssistantPatch,
  AssistantVersion,
  GraphDrawing,
  GraphSchema,
  Subgraphs,
} from '@runyard/contracts';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { ask, askForAnswer } from './ask.ts';
import { at } from './path.ts';

const PAGE = 100;
/** Assistants that a choice shows: of more than these one is found by its name. */
const MAX = 1_000;
const ASSISTANTS_PAGE = 50;
const VERSIONS_PAGE = 50;

/** The assistants of a deployment, by name. */
export function assistantsQuery(workspaceId: string, deploymentId: string) {
  return queryOptions({
    queryKey: ['assistants', workspaceId, deploymentId],
    queryFn: ({ signal }) => listAssistants(workspaceId, deploymentId, signal),
    staleTime: 30_000,
  });
}

/** The ids that lead to an assistant. All that is read of it is kept below its own key. */
export interface AssistantPlace {
  workspaceId: string;
  deploymentId: string;
  /** The name of a graph is that of its default assistant too. */
  assistantId: string;
}

export interface AssistantFilters {
  graph?: string | undefined;
  /** Part of the name. */
  name?: string | undefined;
}

interface AssistantPage {
  assistants: Assistant[];
  total: number;
  /** The number of assistants before the next page; undefined after the last. */
  next: number | undefined;
}

const pathOf = ({ deploymentId, assistantId }: AssistantPlace) =>
  at`/deployments/${deploymentId}/assistants/${assistantId}`;
const keyOf = ({ workspaceId, deploymentId, assistantId }: AssistantPlace) => [
  'assistant',
  workspaceId,
  deploymentId,
  assistantId,
];

/** The assistants of a deployment that are like the filters say, by name and page by page. */
export function assistantPagesQuery(workspaceId: string, deploymentId: string, filters: AssistantFilters) {
  return infiniteQueryOptions({
    queryKey: ['assistants', workspaceId, deploymentId, 'search', filters],
    queryFn: ({ pageParam, signal }) => searchAssistants({ workspaceId, deploymentId }, filters, pageParam, signal),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
  });
}

/** The graphs of a deployment by name: each has one assistant that the platform made. */
export function graphNamesQuery(workspaceId: string, deploymentId: string) {
  return queryOptions({
    queryKey: ['assistants', workspaceId, deploymentId, 'graphs'],
    queryFn: async ({ signal }) => {
      const filters = { metadata: { created_by: 'system' } };
      const made = await listAssistants(workspaceId, deploymentId, signal, filters);
      return [...new Set(made.map(({ graph_id: graph }) => graph))].sort();
    },
    staleTime: 30_000,
  });
}

export function assistantQuery(place: AssistantPlace) {
  return queryOptions({
    queryKey: keyOf(place),
    queryFn: ({ signal }) => ask<Assistant>(pathOf(place), { workspaceId: place.workspaceId, signal }),
  });
}

/** The versions of an assistant, newest first and page by page. */
export function assistantVersionsQuery(place: AssistantPlace) {
  return infiniteQueryOptions({
    queryKey: [...keyOf(place), 'versions'],
    queryFn: ({ pageParam, signal }) =>
      ask<AssistantVersion[]>(at`${pathOf(place)}/versions`, {
        method: 'POST',
        workspaceId: place.workspaceId,
        signal,
        body: { limit: VERSIONS_PAGE, offset: pageParam },
      }),
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < VERSIONS_PAGE ? undefined : pages.length * VERSIONS_PAGE),
  });
}

/** The JSON Schemas of what the graph of an assistant takes and gives. */
export function assistantSchemasQuery(place: AssistantPlace) {
  return queryOptions({
    queryKey: [...keyOf(place), 'schemas'],
    queryFn: ({ signal }) => ask<GraphSchema>(at`${pathOf(place)}/schemas`, { workspaceId: place.workspaceId, signal }),
    staleTime: 60_000,
  });
}

/** The nodes and edges of the graph of an assistant, with those of its subgraphs. */
export function graphDrawingQuery(place: AssistantPlace) {
  return queryOptions({
    queryKey: [...keyOf(place), 'graph'],
    queryFn: ({ signal }) =>
      ask<GraphDrawing>(at`${pathOf(place)}/graph`, {
        workspaceId: place.workspaceId,
        signal,
        query: { xray: true },
      }),
    staleTime: 60_000,
  });
}

/** The ids of the nodes of that graph, those of subgraphs as `subgraph:node`. */
export function nodeIdsQuery(place: AssistantPlace) {
  return queryOptions({ ...graphDrawingQuery(place), select: nodeIdsOf });
}

const nodeIdsOf = ({ nodes }: GraphDrawing) => nodes.map(({ id }) => String(id));

/** The schemas of the subgraphs of an assistant's graph, by their nodes: `outer|inner`. */
export function subgraphsQuery(place: AssistantPlace) {
  return queryOptions({
    queryKey: [...keyOf(place), 'subgraphs'],
    queryFn: ({ signal }) =>
      ask<Subgraphs>(at`${pathOf(place)}/subgraphs`, {
        workspaceId: place.workspaceId,
        signal,
        query: { recurse: true },
      }),
    staleTime: 60_000,
  });
}

/** Makes an assistant. Repeated with the same key, it makes none a second time. @throws PlatformError */
export function createAssistant(
  { workspaceId, deploymentId }: Omit<AssistantPlace, 'assistantId'>,
  body: AssistantCreate,
  key: string,
): Promise<Assistant> {
  const headers = { 'idempotency-key': key };
  return ask<Assistant>(at`/deployments/${deploymentId}/assistants`, { method: 'POST', workspaceId, body, headers });
}

/** Changes an assistant, and thereby makes a version of it. @throws PlatformError */
export function patchAssistant(place: AssistantPlace, body: AssistantPatch): Promise<Assistant> {
  return ask<Assistant>(pathOf(place), { method: 'PATCH', workspaceId: place.workspaceId, body });
}

/** Makes a version the one that runs use. @throws PlatformError */
export function setLatestVersion(place: AssistantPlace, version: number): Promise<Assistant> {
  return ask<Assistant>(at`${pathOf(place)}/latest`, {
    method: 'POST',
    workspaceId: place.workspaceId,
    body: { version },
  });
}

/** Deletes an assistant with its versions and crons, and its threads where that is said. @throws PlatformError */
export function deleteAssistant(place: AssistantPlace, withThreads: boolean): Promise<void> {
  const query = { delete_threads: withThreads || undefined };
  return ask<void>(pathOf(place), { method: 'DELETE', workspaceId: place.workspaceId, query });
}

/** Returns whether the platform made an assistant, as the default one of its graph. */
export function isOfSystem({ metadata }: Pick<Assistant, 'metadata'>): boolean {
  return metadata.created_by === 'system';
}

async function searchAssistants(
  { workspaceId, deploymentId }: Omit<AssistantPlace, 'assistantId'>,
  { graph, name }: AssistantFilters,
  offset: number,
  signal: AbortSignal,
): Promise<AssistantPage> {
  const { body, headers } = await askForAnswer(at`/deployments/${deploymentId}/assistants/search`, {
    method: 'POST',
    workspaceId,
    signal,
    body: {
      ...(graph && { graph_id: graph }),
      ...(name && { name }),
      limit: ASSISTANTS_PAGE,
      offset,
      sort_by: 'name',
      sort_order: 'asc',
    },
  });
  const assistants = body as Assistant[];
  const hasMore = headers.get('x-pagination-next') !== null && assistants.length > 0;
  return {
    assistants,
    total: Number(headers.get('x-pagination-total')),
    next: hasMore ? offset + assistants.length : undefined,
  };
}

async function listAssistants(
  workspaceId: string,
  deploymentId: string,
  signal: AbortSignal,
  filters: object = {},
): Promise<Assistant[]> {
  const all: Assistant[] = [];
  while (all.length < MAX) {
    const { body, headers } = await askForAnswer(at`/deployments/${deploymentId}/assistants/search`, {
      method: 'POST',
      workspaceId,
      signal,
      body: { ...filters, limit: PAGE, offset: all.length, sort_by: 'name', sort_order: 'asc' },
    });
    const page = body as Assistant[];
    all.push(...page);
    if (page.length === 0 || headers.get('x-pagination-next') === null) break;
  }
  return all;
}
