import * as checkpointModule from '@langchain/langgraph-checkpoint';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createStore, PostgresStore, type StoreBackend, type StoredItem } from '../src/index.ts';
import { type DeploymentDatabase, openDeploymentDatabase } from './deployment-database.ts';

let database: DeploymentDatabase;
let store: StoreBackend;

beforeAll(async () => {
  database = await openDeploymentDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.pool.query('TRUNCATE store_item');
  store = new PostgresStore({ pool: database.pool }).open();
});

const NAMESPACE = ['expiring'];
const put = (key: string, ttlMinutes?: number) =>
  store.batch([{ kind: 'put', namespace: NAMESPACE, key, value: { key }, ...(ttlMinutes && { ttlMinutes }) }]);
const get = async (key: string, refreshTtl?: boolean) =>
  (await store.batch([{ kind: 'get', namespace: NAMESPACE, key, ...(refreshTtl !== undefined && { refreshTtl }) }]))[0];
const search = async (refreshTtl?: boolean) =>
  (await store.batch([{ kind: 'search', namespacePrefix: [], ...(refreshTtl !== undefined && { refreshTtl }) }]))[0];

/** Sets the times of the item as if it had been put or refreshed that long ago. */
const age = (key: string, minutes: number) =>
  database.pool.query(
    'UPDATE store_item SET expires_at = expires_at - make_interval(secs => $2::float8 * 60) WHERE key = $1',
    [key, minutes],
  );

/** Returns seconds until the item expires; null for never. */
async function secondsLeft(key: string): Promise<number | null> {
  const { rows } = await database.pool.query<{ left: number | null }>(
    'SELECT extract(epoch FROM expires_at - now())::float8 AS left FROM store_item WHERE key = $1',
    [key],
  );
  return rows[0]?.left ?? null;
}

describe('an expired item', () => {
  it('is invisible, although nothing has swept it', async () => {
    await put('k', 10);
    await age('k', 10);
    expect(await get('k')).toBeNull();
    expect(await search()).toEqual([]);
    expect((await store.batch([{ kind: 'listNamespaces' }]))[0]).toEqual([]);
  });

  it('becomes a new item when it is put again', async () => {
    await put('k', 10);
    await database.pool.query(`UPDATE store_item SET created_at = now() - interval '1 day'`);
    await age('k', 10);
    await put('k');
    const item = (await get('k')) as StoredItem;
    expect(item.createdAt).toBe(item.updatedAt);
    expect(await secondsLeft('k')).toBeNull();
  });

  it('is swept, the longest expired first, a batch at a time', async () => {
    for (const key of ['a', 'b', 'c']) await put(key, 10);
    await put('kept', 10);
    await put('forever');
    await age('a', 11);
    await age('b', 13);
    await age('c', 12);
    const sweeping = new PostgresStore({ pool: database.pool });
    expect(await sweeping.deleteExpired(2)).toBe(2);
    const { rows } = await database.pool.query<{ key: string }>('SELECT key FROM store_item ORDER BY key');
    expect(rows.map(({ key }) => key)).toEqual(['a', 'forever', 'kept']);
    expect(await sweeping.deleteExpired(2)).toBe(1);
    expect(await sweeping.deleteExpired(2)).toBe(0);
  });
});

describe('reading', () => {
  it('restarts the ttl of an item, unless the read says otherwise', async () => {
    await put('k', 10);
    await age('k', 5);
    await get('k', false);
    await search(false);
    expect(await secondsLeft('k')).toBeLessThan(301);
    await get('k');
    expect(await secondsLeft('k')).toBeGreaterThan(590);
    await age('k', 5);
    await search();
    expect(await secondsLeft('k')).toBeGreaterThan(590);
  });

  it('does not restart a ttl where the store is set so, unless the read asks for it', async () => {
    store = new PostgresStore({
      pool: database.pool,
      ttl: { defaultMinutes: null, refreshOnRead: false },
    }).open();
    await put('k', 10);
    await age('k', 5);
    await get('k');
    await search();
    expect(await secondsLeft('k')).toBeLessThan(301);
    await get('k', true);
    expect(await secondsLeft('k')).toBeGreaterThan(590);
  });

  it('gives no ttl to an item that never expires', async () => {
    await put('k');
    await get('k', true);
    expect(await secondsLeft('k')).toBeNull();
  });

  it('does not write an item that was refreshed just now', async () => {
    await put('k', 10);
    const version = async () => (await database.pool.query('SELECT xmin::text FROM store_item')).rows;
    const before = await version();
    for (let turn = 0; turn < 3; turn += 1) await get('k');
    expect(await version()).toEqual(before);
  });
});

describe('the default ttl', () => {
  it('applies to puts without one, also of a graph', async () => {
    const withDefault = new PostgresStore({ pool: database.pool, ttl: { defaultMinutes: 60, refreshOnRead: true } });
    store = withDefault.open();
    await put('default');
    await put('own', 10);
    await createStore(checkpointModule, store).put(NAMESPACE, 'of a graph', {});
    expect(await secondsLeft('default')).toBeGreaterThan(3590);
    expect(await secondsLeft('of a graph')).toBeGreaterThan(3590);
    expect(await secondsLeft('own')).toBeLessThan(601);
  });

  it('replaces the ttl of an earlier put', async () => {
    await put('k', 10);
    await put('k');
    expect(await secondsLeft('k')).toBeNull();
  });
});

it.each([0, -2, Number.NaN, 1e12])('a ttl of %d minutes is refused', async (ttlMinutes) => {
  const operation = { kind: 'put' as const, namespace: NAMESPACE, key: 'k', value: {}, ttlMinutes };
  await expect(store.batch([operation])).rejects.toMatchObject({ reason: 'invalid' });
});
