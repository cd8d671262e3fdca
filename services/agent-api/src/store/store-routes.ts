import { deleteItem, getItem, listNamespaces, putItem, searchItems } from '@runyard/contracts';
import { type BoundOperation, bind, noContent, ok } from '@runyard/service-kit';
import { queryNamespace } from './namespace.ts';
import type { StoreService } from './store-service.ts';

export function storeRoutes(store: StoreService): BoundOperation[] {
  return [
    bind(putItem, async ({ body }) => {
      await store.put(body);
      return noContent();
    }),
    bind(getItem, async ({ query }) => ok(await store.get(queryNamespace(query.namespace), query.key))),
    bind(deleteItem, async ({ body }) => {
      await store.delete(body);
      return noContent();
    }),
    bind(searchItems, async ({ body }) => ok({ items: await store.search(body) })),
    bind(listNamespaces, async ({ body }) => ok({ namespaces: await store.listNamespaces(body) })),
  ];
}
