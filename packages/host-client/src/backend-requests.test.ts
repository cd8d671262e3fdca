import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { CheckpointQuery, StoreBackend, StoreOperation } from '@runyard/checkpointer';
import { checksAtParent, HostConnection } from '@runyard/host-protocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BackendUses } from './backend-uses.ts';

const USE = 1;
let host: HostConnection;
let parent: HostConnection;
let operations: StoreOperation[];
let reads: unknown[];
let queries: CheckpointQuery[];
let batch: StoreBackend['batch'];

beforeEach(async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostSocket = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  server.close();
  host = new HostConnection({ socket: hostSocket, onMessage: () => {}, onClose: () => {} });
  parent = new HostConnection({
    socket,
    checks: checksAtParent(),
    onMessage: (message) => uses.answer(message),
    onClose: () => {},
  });
  const uses = new BackendUses(parent);
  operations = [];
  reads = [];
  queries = [];
  const checkpoints = {
    get: async (...read: unknown[]) => void reads.push(read),
    list: async (query: CheckpointQuery) => {
      queries.push(query);
      return [];
    },
    put: async () => undefined,
    putWrites: async () => undefined,
    deleteThread: async () => undefined,
  };
  batch = async (asked) => {
    operations.push(...asked);
    return asked.map(() => null);
  };
  uses.open({
    use: USE,
    backends: {
      checkpoints: { ...checkpoints, get: checkpoints.get as never },
      store: { batch: (asked) => batch(asked) },
    },
  });
});

afterEach(() => {
  host.close('test ended');
  parent.close('test ended');
});

it('an operation of the store whose optional fields are null is done as one without them', async () => {
  const search = { filter: null, limit: null, offset: null, query: null, refreshTtl: null };
  const list = { prefix: null, suffix: null, maxDepth: null, limit: null, offset: null };
  const sent = [
    { kind: 'get', namespace: ['a'], key: 'k', refreshTtl: null },
    { kind: 'put', namespace: ['a'], key: 'k', value: { text: null }, index: null, ttlMinutes: null },
    { kind: 'put', namespace: ['a'], key: 'k', value: null },
    { kind: 'search', namespacePrefix: ['a'], ...search },
    { kind: 'listNamespaces', ...list },
  ];
  await host.request(USE, { t: 'store.batch', use: USE, operations: sent });
  expect(operations).toEqual([
    { kind: 'get', namespace: ['a'], key: 'k' },
    { kind: 'put', namespace: ['a'], key: 'k', value: { text: null } },
    { kind: 'put', namespace: ['a'], key: 'k', value: null },
    { kind: 'search', namespacePrefix: ['a'] },
    { kind: 'listNamespaces' },
  ]);
});

it('a read of checkpoints whose optional fields are null is done as one without them', async () => {
  const none = { checkpointId: null, beforeCheckpointId: null, filter: null, limit: null, withoutValuesOf: null };
  const query = { threadId: null, namespace: null, ...none };
  await host.request(USE, { t: 'checkpoint.list', use: USE, query });
  expect(queries).toEqual([{}]);
  await host.request(USE, { t: 'checkpoint.get', use: USE, threadId: 't', namespace: '', checkpointId: null });
  expect(reads).toEqual([['t', '', undefined]]);
});

it('what no message can carry fails the request that asked for it, and nothing else', async () => {
  batch = async (asked) => asked.map(() => ({ value: 1n }) as never);
  const ask = () =>
    host.request(USE, {
      t: 'store.batch',
      use: USE,
      operations: [{ kind: 'get', namespace: ['a'], key: 'k', refreshTtl: null }],
    });
  await expect(ask()).rejects.toMatchObject({ kind: 'too_large' });
  batch = async (asked) => asked.map(() => null);
  expect((await ask()).ok).toEqual([null]);
});
