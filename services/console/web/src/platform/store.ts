import type { Item, StorePutRequest, StoreSearchRequest } from '@runyard/contracts';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { at } from './path.ts';

const NAMESPACES_PAGE = 200;
const ITEMS_PAGE = 50;

/** The ids that lead to the store of a deployment. */
export interface StorePlace {
  workspaceId: string;
  deploymentId: string;
}

/** The labels from the root to a namespace. None is empty, and none has a period. */
export type Namespace = readonly string[];

/** An item of a search. The score says how near it is to the meaning of the query; null without one. */
export interface FoundItem extends Item {
  score: number | null;
}

export interface ItemSearch {
  namespace: Namespace;
  query?: string | undefined;
  filter?: Record<string, unknown> | undefined;
}

/** The namespaces directly below one, page by page. */
export function childNamespacesQuery({ workspaceId, deploymentId }: StorePlace, parent: Namespace) {
  return infiniteQueryOptions({
    queryKey: ['store', workspaceId, deploymentId, 'namespaces', parent],
    queryFn: async ({ pageParam, signal }) => {
      const { namespaces } = await ask<{ namespaces: string[][] }>(at`/deployments/${deploymentId}/store/namespaces`, {
        method: 'POST',
        workspaceId,
        signal,
        body: { prefix: parent, max_depth: parent.length + 1, limit: NAMESPACES_PAGE, offset: pageParam },
      });
      return { labels: labelsBelow(parent, namespaces), isFull: namespaces.length === NAMESPACES_PAGE };
    },
    initialPageParam: 0,
    getNextPageParam: ({ isFull }, pages) => (isFull ? pages.length * NAMESPACES_PAGE : undefined),
  });
}

/** Returns the labels below a namespace. A label `*` of the prefix stands for any, so others come along, as does itself. */
export function labelsBelow(parent: Namespace, namespaces: readonly Namespace[]): string[] {
  return namespaces
    .filter((each) => each.length > parent.length && parent.every((label, index) => label === each[index]))
    .map((each) => each[parent.length]!);
}

/** The items in a namespace and below it, page by page: what changed last first, or the nearest to a query. */
export function itemsQuery({ workspaceId, deploymentId }: StorePlace, search: ItemSearch) {
  return infiniteQueryOptions({
    queryKey: ['store', workspaceId, deploymentId, 'items', search],
    queryFn: async ({ pageParam, signal }) => {
      const { namespace, query, filter } = search;
      const body: StoreSearchRequest = {
        namespace_prefix: [...namespace],
        ...(query !== undefined && { query }),
        ...(filter && { filter }),
        limit: ITEMS_PAGE,
        offset: pageParam,
        // To look at an item must not be what keeps it.
        refresh_ttl: false,
      };
      const { items } = await ask<{ items: FoundItem[] }>(at`/deployments/${deploymentId}/store/items/search`, {
        method: 'POST',
        workspaceId,
        signal,
        body,
      });
      return items;
    },
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < ITEMS_PAGE ? undefined : pages.length * ITEMS_PAGE),
  });
}

/** One item; null where there is none. */
export function itemQuery(place: StorePlace, namespace: Namespace, key: string) {
  return queryOptions({
    queryKey: ['store', place.workspaceId, place.deploymentId, 'item', namespace, key],
    queryFn: ({ signal }) => readItem(place, namespace, key, signal),
  });
}

/** Reads an item, without giving it more time to live; null where there is none. @throws PlatformError */
export function readItem(
  { workspaceId, deploymentId }: StorePlace,
  namespace: Namespace,
  key: string,
  signal?: AbortSignal,
): Promise<Item | null> {
  const query = { namespace: namespace.join('.'), key, refresh_ttl: false };
  return ask<Item | null>(at`/deployments/${deploymentId}/store/items`, { workspaceId, signal, query });
}

/** Writes an item, over the one that is there. @throws PlatformError */
export function putItem({ workspaceId, deploymentId }: StorePlace, body: StorePutRequest): Promise<void> {
  return ask<void>(at`/deployments/${deploymentId}/store/items`, { method: 'PUT', workspaceId, body });
}

/** Deletes an item, whether or not it is there. @throws PlatformError */
export function deleteItem(
  { workspaceId, deploymentId }: StorePlace,
  namespace: Namespace,
  key: string,
): Promise<void> {
  const body = { namespace, key };
  return ask<void>(at`/deployments/${deploymentId}/store/items`, { method: 'DELETE', workspaceId, body });
}
