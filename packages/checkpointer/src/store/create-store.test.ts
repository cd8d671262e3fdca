import * as checkpointModule from '@langchain/langgraph-checkpoint';
import { expect, it } from 'vitest';
import type { StoreBackend, StoreOperation } from '../backend.ts';
import { createStore } from './create-store.ts';

it('fields that a project leaves out by null do not reach the backend, which takes them for a mistake', async () => {
  const asked: StoreOperation[] = [];
  const backend = {
    batch: async (operations: StoreOperation[]) => {
      asked.push(...operations);
      return operations.map(() => []);
    },
  } as unknown as StoreBackend;
  const store = createStore(checkpointModule, backend);
  const none = null as unknown as undefined;
  await store.search(['a'], { filter: none, query: none, limit: none, offset: none });
  await store.listNamespaces({ maxDepth: none, limit: none, offset: none });
  await store.put(['a'], 'key', undefined as unknown as Record<string, unknown>);
  expect(JSON.parse(JSON.stringify(asked))).toEqual([
    { kind: 'search', namespacePrefix: ['a'] },
    { kind: 'listNamespaces' },
    { kind: 'put', namespace: ['a'], key: 'key', value: null },
  ]);
});
