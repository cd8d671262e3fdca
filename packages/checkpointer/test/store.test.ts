import * as checkpointModule from '@langchain/langgraph-checkpoint';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createStore, PostgresStore } from '../src/index.ts';
import { type DeploymentDatabase, openDeploymentDatabase, takeOver } from './deployment-database.ts';

let database: DeploymentDatabase;
let store: ReturnType<typeof createStore>;

beforeAll(async () => {
  database = await openDeploymentDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.pool.query('TRUNCATE store_item');
  store = createStore(checkpointModule, new PostgresStore({ pool: database.pool }).open());
});

const keys = (items: { key: string }[]) => items.map(({ key }) => key).sort();

describe('items', () => {
  it('are read as they were put, with their times', async () => {
    await store.put(['users', 'ada'], 'profile', { name: 'Ada', tags: ['a'], nested: { deep: null } });
    const item = await store.get(['users', 'ada'], 'profile');
    expect(item).toMatchObject({
      namespace: ['users', 'ada'],
      key: 'profile',
      value: { name: 'Ada', tags: ['a'], nested: { deep: null } },
    });
    expect(item?.createdAt).toBeInstanceOf(Date);
    expect(item?.updatedAt).toEqual(item?.createdAt);
  });

  it('keep their creation time when put again, and do not exist after they were deleted', async () => {
    await store.put(['a'], 'k', { n: 1 });
    const first = await store.get(['a'], 'k');
    await store.put(['a'], 'k', { n: 2 });
    const second = await store.get(['a'], 'k');
    expect(second?.value).toEqual({ n: 2 });
    expect(second?.createdAt).toEqual(first?.createdAt);
    expect(second?.updatedAt.getTime()).toBeGreaterThanOrEqual(first?.updatedAt.getTime() ?? 0);
    await store.delete(['a'], 'k');
    expect(await store.get(['a'], 'k')).toBeNull();
  });

  it('are distinguished by whole segments with any characters', async () => {
    const odd = ['a"b\\c,{d}', '*', 'e:f', ' '];
    await store.put(odd, 'k"\\', { here: true });
    await store.put(['a', 'b'], 'k', { n: 1 });
    expect((await store.get(odd, 'k"\\'))?.namespace).toEqual(odd);
    expect(await store.get(['a:b'], 'k')).toBeNull();
  });

  it('with U+0000 are stored with the replacement character', async () => {
    await store.put(['a'], 'k\u0000', { 'x\u0000': 'y\u0000z' });
    expect((await store.get(['a'], 'k\u0000'))?.value).toEqual({ 'x\uFFFD': 'y\uFFFDz' });
  });
});

describe('a batch', () => {
  it('returns results in order; reads see the earlier state, and the last of several puts of one item counts', async () => {
    await store.put(['a'], 'k', { n: 0 });
    const results = await store.batch([
      { namespace: ['a'], key: 'k', value: { n: 1 } },
      { namespace: ['a'], key: 'k' },
      { namespace: ['a'], key: 'k', value: { n: 2 } },
      { namespace: ['a'], key: 'absent' },
      { namespacePrefix: ['a'] },
    ]);
    expect(results[0]).toBeUndefined();
    expect(results[1]).toMatchObject({ value: { n: 0 } });
    expect(results[3]).toBeNull();
    expect(results[4]).toMatchObject([{ value: { n: 0 } }]);
    expect((await store.get(['a'], 'k'))?.value).toEqual({ n: 2 });
  });

  it('applies the last of several operations on one item', async () => {
    await store.batch([
      { namespace: ['a'], key: 'kept', value: null },
      { namespace: ['a'], key: 'kept', value: { n: 1 } },
      { namespace: ['a'], key: 'gone', value: { n: 1 } },
      { namespace: ['a'], key: 'gone', value: null },
    ]);
    expect(keys(await store.search(['a']))).toEqual(['kept']);
  });

  it('does not fail when others write the same items in another order', async () => {
    const items = Array.from({ length: 20 }, (_, index) => ({
      namespace: ['a', `${index}`],
      key: 'k',
      value: { index },
    }));
    await Promise.all(
      Array.from({ length: 12 }, (_, turn) => store.batch(turn % 2 === 0 ? items : items.toReversed())),
    );
    expect(await store.search(['a'], { limit: 100 })).toHaveLength(20);
  });
});

describe('search', () => {
  beforeEach(async () => {
    await store.put(['docs', 'a'], '1', { kind: 'note', stars: 3, at: '2024-01-01', tags: ['x'], by: { name: 'ada' } });
    await store.put(['docs', 'a'], '2', { kind: 'note', stars: 10, at: '2025-01-01', tags: ['x', 'y'] });
    await store.put(['docs', 'ab'], '3', { kind: 'page', stars: '7', by: { name: 'ada', age: 36 } });
    await store.put(['docs'], '4', { kind: null });
    await store.put(['docsb'], '5', { kind: 'note' });
  });

  it('matches whole segments of the prefix', async () => {
    expect(keys(await store.search(['docs']))).toEqual(['1', '2', '3', '4']);
    expect(keys(await store.search(['docs', 'a']))).toEqual(['1', '2']);
    expect(keys(await store.search([]))).toEqual(['1', '2', '3', '4', '5']);
    expect(await store.search(['doc'])).toEqual([]);
  });

  it('compares fields for equality, also lists and objects as a whole', async () => {
    expect(keys(await store.search(['docs'], { filter: { kind: 'note', stars: 10 } }))).toEqual(['2']);
    expect(keys(await store.search(['docs'], { filter: { kind: null } }))).toEqual(['4']);
    expect(keys(await store.search(['docs'], { filter: { tags: ['x'] } }))).toEqual(['1']);
    expect(keys(await store.search(['docs'], { filter: { by: { name: 'ada' } } }))).toEqual(['1']);
    expect(keys(await store.search(['docs'], { filter: { stars: 7 } }))).toEqual([]);
  });

  it.each([
    [{ stars: { $eq: 3 } }, ['1']],
    [{ stars: { $ne: 3 } }, ['2', '3', '4']],
    [{ stars: { $gt: 3 } }, ['2']],
    [{ stars: { $gte: 3 } }, ['1', '2']],
    [{ stars: { $lt: 10 } }, ['1']],
    [{ stars: { $lte: 10, $gt: 3 } }, ['2']],
    [{ at: { $gte: '2024-06-01' } }, ['2']],
    [{ stars: { $in: [3, '7'] } }, ['1', '3']],
    [{ stars: { $nin: [3, '7'] } }, ['2', '4']],
  ])('filters by %j', async (filter, expected) => {
    expect(keys(await store.search(['docs'], { filter }))).toEqual(expected);
  });

  it('names an unknown operator', async () => {
    await expect(store.search(['docs'], { filter: { stars: { $near: 3 } } })).rejects.toThrow('$near');
  });

  it('pages, last changed first, ten at a time by default', async () => {
    for (let index = 0; index < 12; index += 1) await store.put(['many'], `${index}`, { index });
    expect(await store.search(['many'])).toHaveLength(10);
    const page = await store.search(['many'], { limit: 3, offset: 2 });
    expect(page.map(({ key }) => key)).toEqual(['9', '8', '7']);
  });

  it('with a query and no index returns all items, unranked', async () => {
    const items = await store.search(['docs', 'a'], { query: 'notes' });
    expect(keys(items)).toEqual(['1', '2']);
    expect(items[0]?.score).toBeUndefined();
  });
});

describe('listed namespaces', () => {
  beforeEach(async () => {
    for (const namespace of [
      ['a', 'b', 'c'],
      ['a', 'b', 'd', 'e'],
      ['a', 'x', 'c'],
      ['b', 'c'],
    ]) {
      await store.put(namespace, 'k', {});
    }
  });

  it('occur once each, in the order of their segments', async () => {
    await store.put(['a', 'b', 'c'], 'other', {});
    expect(await store.listNamespaces()).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'd', 'e'],
      ['a', 'x', 'c'],
      ['b', 'c'],
    ]);
  });

  it('match a prefix and a suffix in which * is any one segment', async () => {
    expect(await store.listNamespaces({ prefix: ['a', '*', 'c'] })).toEqual([
      ['a', 'b', 'c'],
      ['a', 'x', 'c'],
    ]);
    expect(await store.listNamespaces({ prefix: ['*', 'c'] })).toEqual([['b', 'c']]);
    expect(await store.listNamespaces({ suffix: ['*', 'c'] })).toHaveLength(3);
    expect(await store.listNamespaces({ prefix: ['a', 'b'], suffix: ['e'] })).toEqual([['a', 'b', 'd', 'e']]);
  });

  it('are cut to a depth, counted after cutting, and paged', async () => {
    expect(await store.listNamespaces({ maxDepth: 2 })).toEqual([
      ['a', 'b'],
      ['a', 'x'],
      ['b', 'c'],
    ]);
    expect(await store.listNamespaces({ maxDepth: 2, limit: 1, offset: 1 })).toEqual([['a', 'x']]);
  });

  it('meet several conditions of one kind at once', async () => {
    const conditions = (...paths: string[][]) => ({
      matchConditions: paths.map((path) => ({ matchType: 'prefix' as const, path })),
      limit: 10,
      offset: 0,
    });
    const [both, none] = await store.batch([conditions(['a', '*'], ['*', 'b']), conditions(['a'], ['b'])]);
    expect(both).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'd', 'e'],
    ]);
    expect(none).toEqual([]);
  });
});

describe('the store of a run', () => {
  it('accepts nothing once another attempt owns the thread, and still reads', async () => {
    const fence = await takeOver(database.pool);
    const mine = createStore(checkpointModule, new PostgresStore({ pool: database.pool }).open({ fence }));
    await mine.put(['a'], 'k', { n: 1 });
    await takeOver(database.pool, { threadId: fence.threadId });
    await expect(mine.put(['a'], 'k', { n: 2 })).rejects.toMatchObject({ reason: 'fenced' });
    await expect(mine.delete(['a'], 'k')).rejects.toMatchObject({ reason: 'fenced' });
    expect((await mine.get(['a'], 'k'))?.value).toEqual({ n: 1 });
  });
});
