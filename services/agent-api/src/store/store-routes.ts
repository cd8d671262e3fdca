import { deleteItem, getItem, listNamespaces, putItem, searchItems } from '@runyard/contracts';
import { noContent, ok } from '@runyard/service-kit';
import { DELETE_ITEM, GET_ITEM, LIST_NAMESPACES, PUT_ITEM, SEARCH_ITEMS } from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import { closedAnswer } from '../http/closed-answer.ts';
import { parseNamespace } from '../http/namespace-query.ts';
import { isSet } from '../http/query-flag.ts';
import type { StoreService } from './store-service.ts';

export function storeRoutes(store: StoreService, guard: RouteGuard): GuardedOperation[] {
  return [
    guard.bind(putItem, [PUT_ITEM], async ({ body }, [scope]) => {
      await store.put(scope, body);
      return noContent();
    }),
    guard.bind(getItem, [GET_ITEM], async ({ query: { namespace, key, refresh_ttl } }, [scope]) => {
      const refreshTtl = refresh_ttl === undefined ? undefined : isSet(refresh_ttl);
      return ok(await store.get(scope, { namespace: parseNamespace(namespace), key, refreshTtl }));
    }),
    guard.bind(deleteItem, [DELETE_ITEM], async ({ body }, [scope]) => {
      await store.delete(scope, body);
      return noContent();
    }),
    guard.bind(searchItems, [SEARCH_ITEMS], async ({ body, res }, [scope]) =>
      ok({ items: await store.search(scope, body, closedAnswer(res)) }),
    ),
    guard.bind(listNamespaces, [LIST_NAMESPACES], async ({ body }, [scope]) =>
      ok({ namespaces: await store.listNamespaces(scope, body) }),
    ),
  ];
}
