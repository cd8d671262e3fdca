import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { answerCase, fieldCase, type ParityCase, type ServerConnection } from '../framework/index.ts';

/** Returns a namespace of the case alone. */
const place = () => ['parity', randomUUID()];
const put = (way: ServerConnection, namespace: string[], key: string, value: object, more: object = {}) =>
  way.call('putItem', { body: { namespace, key, value, ...more } });
const get = (way: ServerConnection, namespace: string[], key: string, more: object = {}) =>
  way.call('getItem', { query: { namespace: namespace.join('.'), key, ...more } });
const found = async (way: ServerConnection, body: object): Promise<string[]> =>
  (await way.call('searchItems', { body })).body.items.map(({ key }: { key: string }) => key);
const namespaces = async (way: ServerConnection, body: object): Promise<string[][]> =>
  (await way.call('listNamespaces', { body })).body.namespaces;

/** A ttl in minutes that expires soon. */
const SHORT_TTL = 0.02;
/**
 * Returns whether the item is gone at twice its ttl although `read` reads it again and again. The last read begins then,
 * however long the one before took.
 */
async function goesWhileRead(read: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + SHORT_TTL * 60_000 * 2;
  for (;;) {
    const isLast = performance.now() >= end;
    if (!(await read())) return true;
    if (isLast) return false;
    await delay(50);
  }
}

const writing: ParityCase[] = [
  fieldCase({
    operations: ['putItem', 'deleteItem'],
    field: 'body.namespace',
    promise: 'names where the item is',
    run: async (ctx) => {
      const there = place();
      await put(ctx, there, 'k', { n: 1 });
      expect((await get(ctx.direct, there, 'k')).body).toMatchObject({ namespace: there });
      expect((await ctx.call('deleteItem', { body: { namespace: there, key: 'k' } })).status).toBe(204);
      expect((await get(ctx.direct, there, 'k')).body).toBeNull();
    },
  }),
  fieldCase({
    operations: ['putItem', 'deleteItem'],
    field: 'body.key',
    promise: 'names the item',
    run: async (ctx) => {
      const there = place();
      await put(ctx, there, 'k', { n: 1 });
      expect((await get(ctx.direct, there, 'k')).body).toMatchObject({ key: 'k' });
      expect((await ctx.call('deleteItem', { body: { namespace: there, key: 'k' } })).status).toBe(204);
    },
  }),
  fieldCase({
    operations: ['putItem'],
    field: 'body.value',
    promise: 'is what the item holds',
    run: async (ctx) => {
      const there = place();
      await put(ctx, there, 'k', { deep: [{ a: null }] });
      expect((await get(ctx.direct, there, 'k')).body).toMatchObject({ value: { deep: [{ a: null }] } });
    },
  }),
  fieldCase({
    operations: ['putItem'],
    field: 'body.index',
    promise: 'says what of the value is embedded: nothing, or the paths named',
    run: async (ctx) => {
      const there = place();
      await put(ctx, there, 'none', { text: 'a' }, { index: false });
      await put(ctx, there, 'note', { text: 'z', note: 'a' }, { index: ['note'] });
      const { body } = await ctx.direct.call('searchItems', { body: { namespace_prefix: there, query: 'a' } });
      expect(body.items).toMatchObject([{ key: 'note', score: 1 }]);
      expect(body.items).toHaveLength(1);
    },
  }),
  fieldCase({
    operations: ['putItem'],
    field: 'body.ttl',
    promise: 'is the minutes after which the item is gone',
    run: async (ctx) => {
      const there = place();
      await put(ctx, there, 'k', {}, { ttl: SHORT_TTL });
      const isThere = async () => (await get(ctx.direct, there, 'k', { refresh_ttl: 'false' })).body !== null;
      expect(await goesWhileRead(isThere)).toBe(true);
    },
  }),
];

const reading: ParityCase[] = [
  fieldCase({
    operations: ['getItem'],
    field: 'query.namespace',
    promise: 'is the labels of the namespace, joined by periods or repeated',
    run: async (ctx) => {
      const there = place();
      await put(ctx.direct, there, 'k', { n: 1 });
      expect((await get(ctx, there, 'k')).body).toMatchObject({ value: { n: 1 } });
      expect((await ctx.call('getItem', { query: { namespace: there, key: 'k' } })).body).toMatchObject({ key: 'k' });
    },
  }),
  fieldCase({
    operations: ['getItem'],
    field: 'query.key',
    promise: 'names the item',
    run: async (ctx) => {
      const there = place();
      await put(ctx.direct, there, 'k', { n: 1 });
      expect((await get(ctx, there, 'k')).body).toMatchObject({ key: 'k' });
    },
  }),
  fieldCase({
    operations: ['getItem'],
    field: 'query.refresh_ttl',
    promise: 'false leaves the time of the item as it is',
    run: async (ctx) => {
      const there = place();
      await put(ctx.direct, there, 'k', {}, { ttl: SHORT_TTL });
      const isThere = async () => (await get(ctx, there, 'k', { refresh_ttl: 'false' })).body !== null;
      expect(await goesWhileRead(isThere)).toBe(true);
    },
  }),
];

/** Searches over three items; the keys found show whether the field was applied. */
const searchFields: { field: string; promise: string; body: object; keys: string[] }[] = [
  {
    field: 'filter',
    promise: 'leaves the items whose fields compare as it says',
    body: { filter: { n: { $gte: 2 } } },
    keys: ['c', 'b'],
  },
  { field: 'limit', promise: 'is how many items are given at most', body: { limit: 1 }, keys: ['c'] },
  { field: 'offset', promise: 'is how many items are passed over', body: { offset: 2 }, keys: ['a'] },
  { field: 'query', promise: 'ranks by meaning, nearest first', body: { query: 'aa' }, keys: ['a', 'b', 'c'] },
];

const searching: ParityCase[] = [
  ...searchFields.map(({ field, promise, body, keys }) =>
    fieldCase({
      operations: ['searchItems'],
      field: `body.${field}`,
      promise,
      run: async (ctx) => {
        const there = place();
        for (const [index, text] of ['a', 'ab', 'abc'].entries()) {
          await put(ctx.direct, there, text.slice(-1), { n: index + 1, text });
        }
        expect(await found(ctx, { namespace_prefix: there, ...body })).toEqual(keys);
      },
    }),
  ),
  fieldCase({
    operations: ['searchItems'],
    field: 'body.namespace_prefix',
    promise: 'leaves the items below a namespace, by whole labels in which _ and % are ordinary',
    run: async (ctx) => {
      const there = place();
      await put(ctx.direct, [...there, 'a_%'], 'k', { n: 1 });
      await put(ctx.direct, [...there, 'aXY'], 'k', { n: 1 });
      await put(ctx.direct, [...there, 'a_%c'], 'k', { n: 1 });
      const { body } = await ctx.call('searchItems', { body: { namespace_prefix: [...there, 'a_%'] } });
      expect(body.items).toMatchObject([{ namespace: [...there, 'a_%'], score: null }]);
      expect(body.items).toHaveLength(1);
    },
  }),
  fieldCase({
    operations: ['searchItems'],
    field: 'body.refresh_ttl',
    promise: 'false leaves the time of the items as it is',
    run: async (ctx) => {
      const there = place();
      await put(ctx.direct, there, 'k', {}, { ttl: SHORT_TTL });
      const isThere = async () => (await found(ctx, { namespace_prefix: there, refresh_ttl: false })).length > 0;
      expect(await goesWhileRead(isThere)).toBe(true);
    },
  }),
];

/** Searches over `[root, 'a', 'x']`, `[root, 'b', 'x']` and `[root, 'b', 'y']`. */
const namespaceFields: { field: string; promise: string; body(root: string[]): object; rests: string[][] }[] = [
  {
    field: 'prefix',
    promise: 'is how namespaces begin; * stands for one label',
    body: ([, id]) => ({ prefix: ['*', id, 'b'] }),
    rests: [
      ['b', 'x'],
      ['b', 'y'],
    ],
  },
  {
    field: 'suffix',
    promise: 'is how namespaces end',
    body: (root) => ({ prefix: root, suffix: ['*', 'x'] }),
    rests: [
      ['a', 'x'],
      ['b', 'x'],
    ],
  },
  {
    field: 'max_depth',
    promise: 'cuts namespaces to so many labels',
    body: (root) => ({ prefix: root, max_depth: 3 }),
    rests: [['a'], ['b']],
  },
  {
    field: 'limit',
    promise: 'is how many namespaces are given at most',
    body: (root) => ({ prefix: root, limit: 1 }),
    rests: [['a', 'x']],
  },
  {
    field: 'offset',
    promise: 'is how many namespaces are passed over',
    body: (root) => ({ prefix: root, offset: 2 }),
    rests: [['b', 'y']],
  },
];

const listing: ParityCase[] = namespaceFields.map(({ field, promise, body, rests }) =>
  fieldCase({
    operations: ['listNamespaces'],
    field: `body.${field}`,
    promise,
    run: async (ctx) => {
      const root = place();
      for (const rest of [
        ['a', 'x'],
        ['b', 'x'],
        ['b', 'y'],
      ])
        await put(ctx.direct, [...root, ...rest], 'k', {});
      expect(await namespaces(ctx, body(root))).toEqual(rests.map((rest) => [...root, ...rest]));
    },
  }),
);

const statuses: ParityCase[] = [
  answerCase('putItem', 204, 'writes the item', { body: { namespace: place(), key: 'k', value: {} } }),
  answerCase('putItem', 400, 'refuses the root that LangGraph keeps for itself', {
    body: { namespace: ['langgraph'], key: 'k', value: {} },
  }),
  answerCase('putItem', 422, 'refuses a label with a period', { body: { namespace: ['a.b'], key: 'k', value: {} } }),
  answerCase('putItem', 502, 'tells that the embeddings failed', {
    body: { namespace: place(), key: 'k', value: { text: 'unembeddable' } },
  }),
  answerCase('getItem', 200, 'answers null for an item that is not there', {
    query: { namespace: 'parity.none', key: 'k' },
  }),
  answerCase('getItem', 400, 'asks for a key', { query: { namespace: 'parity' } }),
  answerCase('getItem', 422, 'asks for a namespace', { query: { key: 'k' } }),
  answerCase('deleteItem', 204, 'is content when the item was not there', { body: { namespace: place(), key: 'k' } }),
  answerCase('deleteItem', 400, 'asks for a namespace', { body: { namespace: [], key: 'k' } }),
  answerCase('deleteItem', 422, 'refuses an empty label', { body: { namespace: ['a', ''], key: 'k' } }),
  answerCase('searchItems', 200, 'finds nothing below a namespace without items', {
    body: { namespace_prefix: place() },
  }),
  answerCase('searchItems', 422, 'names an unknown operator', { body: { filter: { n: { $regex: '.' } } } }),
  answerCase('searchItems', 502, 'tells that the embeddings failed', {
    body: { namespace_prefix: place(), query: 'unembeddable' },
  }),
  answerCase('listNamespaces', 200, 'lists nothing below a namespace without items', { body: { prefix: place() } }),
  answerCase('listNamespaces', 422, 'refuses an empty label', { body: { prefix: [''] } }),
];

export const cases: ParityCase[] = [...writing, ...reading, ...searching, ...listing, ...statuses];
