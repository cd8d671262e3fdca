import * as checkpointModule from '@langchain/langgraph-checkpoint';
import { openPool } from '@runyard/database';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createStore, PostgresStore, type StoreBackend } from '../src/index.ts';
import { type DeploymentDatabase, openDeploymentDatabase } from './deployment-database.ts';

let database: DeploymentDatabase;
let store: ReturnType<typeof createStore>;
let backend: StoreBackend;

beforeAll(async () => {
  database = await openDeploymentDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.pool.query('TRUNCATE store_item');
  backend = new PostgresStore({ pool: database.pool }).open();
  store = createStore(checkpointModule, backend);
});

describe('a scope', () => {
  const mine = { scope: [{ owner: 'nobody' }, { owner: 'ada' }] };
  const at = { namespace: ['shared'], key: 'k' };

  it('hides the items of others from every read', async () => {
    await store.put(at.namespace, at.key, { owner: 'bob' });
    await store.put(['own'], 'k', { owner: 'ada' });
    const [item, found, namespaces] = await backend.batch([
      { kind: 'get', ...at, ...mine },
      { kind: 'search', namespacePrefix: [], ...mine },
      { kind: 'listNamespaces', ...mine },
    ]);
    expect(item).toBeNull();
    expect(found).toMatchObject([{ namespace: ['own'] }]);
    expect(namespaces).toEqual([['own']]);
  });

  it('leaves the items of others unchanged', async () => {
    await store.put(at.namespace, at.key, { owner: 'bob' });
    const put = { kind: 'put', ...at, ...mine } as const;
    await expect(backend.batch([{ ...put, value: { owner: 'ada' } }])).rejects.toMatchObject({ reason: 'not_found' });
    await backend.batch([{ ...put, value: null }]);
    expect((await store.get(at.namespace, at.key))?.value).toEqual({ owner: 'bob' });
    await store.delete(at.namespace, at.key);
    await backend.batch([{ ...put, value: { owner: 'ada' } }]);
    await backend.batch([{ ...put, value: null }]);
    expect(await store.get(at.namespace, at.key)).toBeNull();
  });

  it.each([
    ['a label of the namespace', [{ namespace: ['ada'] }]],
    ['the key', [{ key: 'of-ada' }]],
    ['label, key and value', [{ owner: 'nobody' }, { namespace: ['ada', 'notes'], key: 'of-ada', kind: 'note' }]],
  ])('by %s shows the items there, and no item whose value pretends to be there', async (_, scope) => {
    const value = { kind: 'note' };
    await store.put(['ada', 'notes'], 'of-ada', value);
    await store.put(['bob', 'notes'], 'of-bob', { ...value, namespace: ['ada', 'notes'], key: 'of-ada' });
    const [own, others, found, namespaces] = await backend.batch([
      { kind: 'get', namespace: ['ada', 'notes'], key: 'of-ada', scope },
      { kind: 'get', namespace: ['bob', 'notes'], key: 'of-bob', scope },
      { kind: 'search', namespacePrefix: [], scope },
      { kind: 'listNamespaces', scope },
    ]);
    expect(own).toMatchObject({ value });
    expect(others).toBeNull();
    expect(found).toMatchObject([{ namespace: ['ada', 'notes'] }]);
    expect(namespaces).toEqual([['ada', 'notes']]);
    const put = { kind: 'put', scope } as const;
    const place = { namespace: ['bob', 'notes'], key: 'of-bob' };
    await expect(backend.batch([{ ...put, ...place, value }])).rejects.toMatchObject({ reason: 'not_found' });
    await backend.batch([{ ...put, ...place, value: null }]);
    expect(await store.get(place.namespace, place.key)).not.toBeNull();
    await backend.batch([{ ...put, namespace: ['ada', 'notes'], key: 'of-ada', value: null }]);
    expect(await store.get(['ada', 'notes'], 'of-ada')).toBeNull();
  });

  it('without alternatives shows nothing', async () => {
    await store.put(at.namespace, at.key, {});
    expect(await backend.batch([{ kind: 'search', namespacePrefix: [], scope: [] }])).toEqual([[]]);
  });
});

describe('operations of the store', () => {
  it.each([
    [{ namespace: [], key: 'k', value: {} }, 'Namespace cannot be empty'],
    [{ namespace: ['a.b'], key: 'k', value: {} }, "label 'a.b'"],
    [{ namespace: ['a', ''], key: 'k', value: {} }, "label ''"],
    [{ namespace: ['a'], key: 'k'.repeat(3000), value: {} }, '2048 bytes'],
    [{ namespace: ['a'], key: 'k', value: 'text' }, 'value must be an object'],
    [{ namespace: ['a'], key: 'k', value: {}, index: ['a['] }, 'is not a path'],
    [{ namespace: ['a'], key: 'k', value: {}, index: 'a' }, 'index must be'],
  ])('%j is refused', async (operation, message) => {
    await expect(store.batch([operation as never])).rejects.toMatchObject({
      reason: 'invalid',
      message: expect.stringContaining(message),
    });
  });

  it.each([
    [{ kind: 'get', namespace: ['customers', undefined], key: 'k' }, 'namespace and key must be texts, not null'],
    [{ kind: 'get', namespace: ['a'], key: 7 }, 'namespace and key must be texts, not number'],
    [{ kind: 'get', namespace: null, key: 'k' }, 'namespace must be a list of texts'],
    [{ kind: 'put', namespace: null, key: 'k', value: {} }, 'namespace must be a list of texts'],
    [{ kind: 'search', namespacePrefix: ['a', null] }, 'namespace prefix must be texts'],
    [{ kind: 'search', namespacePrefix: 'a' }, 'namespace prefix must be a list'],
    [{ kind: 'search', namespacePrefix: ['a'], filter: 'text' }, 'filter must be an object'],
    [{ kind: 'search', namespacePrefix: ['a'], query: {} }, 'query must be a text'],
    [{ kind: 'search', namespacePrefix: ['a'], limit: -1 }, 'refused'],
    [{ kind: 'listNamespaces', prefix: [null] }, 'prefix must be texts'],
    [{ kind: 'listNamespaces', suffix: 'a' }, 'suffix must be a list'],
    [{ kind: 'listNamespaces', maxDepth: 'deep' }, 'refused'],
  ])('%j of a graph is an error that the graph gets, and no outage', async (operation, message) => {
    const asSent = JSON.parse(JSON.stringify(operation));
    await expect(backend.batch([asSent])).rejects.toMatchObject({
      reason: 'invalid',
      message: expect.stringContaining(message),
    });
  });

  it.each([
    { kind: 'search', namespacePrefix: [], filter: null, query: null, limit: null, offset: null },
    { kind: 'listNamespaces', prefix: null, suffix: null, maxDepth: null, limit: null, offset: null },
  ])('%j finds what it would without these fields', async (operation) => {
    expect(await backend.batch([operation as never])).toEqual([[]]);
  });

  it('a search whose limit is no number returns ten items', async () => {
    for (let index = 0; index < 12; index += 1) await store.put(['a'], `${index}`, {});
    const operation = { kind: 'search' as const, namespacePrefix: [], limit: null as never };
    expect((await backend.batch([operation]))[0]).toHaveLength(10);
  });

  it('searches of one batch that find more than a list may have are an error, after which the store is read', async () => {
    for (const key of ['one', 'two', 'three']) await store.put(['large'], key, {});
    const grown = `jsonb_build_object('text', repeat('a', ${11 * 1024 * 1024}))`;
    await database.pool.query(`UPDATE store_item SET value = ${grown}`);
    const two = { kind: 'search' as const, namespacePrefix: ['large'], limit: 2 };
    const one = new PostgresStore({ pool: database.pool }).open();
    expect((await one.batch([two]))[0]).toHaveLength(2);
    for (const batch of [[{ ...two, limit: 3 }], [two, { ...two, limit: 1 }]]) {
      await expect(one.batch(batch)).rejects.toMatchObject({
        name: 'StateTooLargeError',
        reason: 'too_large',
        message: expect.stringContaining('smaller limit'),
      });
    }
    await expect(Promise.all([1, 2, 3, 4].map(() => one.batch([{ ...two, limit: 1 }])))).resolves.toHaveLength(4);
  });

  it('a search that exceeds the statement timeout says so, and is no outage', async () => {
    const slow = openPool({
      connectionString: database.url,
      max: 1,
      applicationName: 'checkpointer-test',
      statementTimeoutMs: 50,
    });
    const lock = await database.pool.connect();
    try {
      await lock.query('BEGIN; LOCK TABLE store_item IN ACCESS EXCLUSIVE MODE');
      const operation = { kind: 'search' as const, namespacePrefix: [] };
      await expect(new PostgresStore({ pool: slow }).open().batch([operation])).rejects.toMatchObject({
        reason: 'too_large',
        message: expect.stringContaining('narrower namespace'),
      });
    } finally {
      await lock.query('ROLLBACK');
      lock.release();
      await slow.end();
    }
  });
});
