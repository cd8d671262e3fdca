import * as checkpointModule from '@langchain/langgraph-checkpoint';
import { expect, it } from 'vitest';
import type { StoreBackend, StoreOperation } from '../backend.ts';
import { createStore } from './create-store.ts';

it('a value that a project leaves undefined deletes its item, as null does', async () => {
  const asked: StoreOperation[] = [];
  const backend = {
    batch: async (operations: StoreOperation[]) => {
      asked.push(...operations);
      return operations.map(() => []);
    },
  } as unknown as StoreBackend;
  const store = createStore(checkpointModule, backend);
  await store.put(['a'], 'key', undefined as unknown as Record<string, unknown>);
  expect(JSON.parse(JSON.stringify(asked))).toEqual([{ kind: 'put', namespace: ['a'], key: 'key', value: null }]);
});
