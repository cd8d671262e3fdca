import { deleteItem, getItem, listNamespaces, putItem, searchItems } from '@runyard/contracts';
import { type BoundOperation, bind, noContent, ok } from '@runyard/service-kit';
import { UNRESTRICTED } from '../access/scope.ts';
import { isSet } from '../http/query-flag.ts';
import { parseNamespace } from './namespace.ts';
import type { StoreService } from './store-service.ts';

export function storeRoutes(store: StoreService): BoundOperation[] {
  return [
    bind(putItem, async ({ body }) => {
      await store.put(UNRESTRICTED, body);
      return noContent();
    }),
    bind(getItem, async ({ query: { namespace, key, refresh_ttl } }) => {
      const refreshTtl = refresh_ttl === undefined ? undefined : isSet(refresh_ttl);
      return ok(await store.get(UNRESTRICTED, { namespace: parseNamespace(namespace), key, refreshTtl }));
    }),
    bind(deleteItem, async ({ body }) => {
      await store.delete(UNRESTRICTED, body);
      return noContent();
    }),
    bind(searchItems, async ({ body }) => ok({ items: await store.search(UNRESTRICTED, body) })),
    bind(listNamespaces, async ({ body }) => ok({ namespaces: await store.listNamespaces(UNRESTRICTED, body) })),
  ];
}
