import * as checkpointModule from '@langchain/langgraph-checkpoint';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  BackendError,
  createStore,
  type Embed,
  installVectorExtension,
  PostgresStore,
  type StoreBackend,
  type StoredItem,
} from '../src/index.ts';
import { type DeploymentDatabase, openDeploymentDatabase, takeOver } from './deployment-database.ts';
import { openVectorDatabase } from './vector-database.ts';

const INDEX = { embeddings: 'letters', dims: 26, fields: ['text'] };

/** Counts each letter: texts with the same letters have the same meaning. */
function letters(text: string): number[] {
  const counts = new Array<number>(26).fill(0);
  for (const letter of text.toLowerCase()) {
    const place = letter.charCodeAt(0) - 97;
    if (place >= 0 && place < 26) counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}

let database: DeploymentDatabase;
let asked: { texts: string[]; as: string }[];
let store: StoreBackend;
const embed: Embed = async (texts, as) => {
  asked.push({ texts, as });
  return texts.map(letters);
};
const opened = (pool: pg.Pool, index = INDEX) => new PostgresStore({ pool, index }).open({ embed });

beforeAll(async () => {
  database = await openDeploymentDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.pool.query('DELETE FROM store_item');
  asked = [];
  store = opened(database.pool);
});

type Put = { index?: false | string[]; namespace?: string[] };
const aPut = (key: string, value: Record<string, unknown>, { namespace = ['n'], ...rest }: Put = {}) =>
  ({ kind: 'put', namespace, key, value, ...rest }) as const;
const put = (key: string, value: Record<string, unknown>, options?: Put) => store.batch([aPut(key, value, options)]);
async function find(query: string, options: { namespacePrefix?: string[]; limit?: number; offset?: number } = {}) {
  const [items] = await store.batch([{ kind: 'search', namespacePrefix: ['n'], query, ...options }]);
  return items as StoredItem[];
}
const keys = (items: StoredItem[]) => items.map(({ key }) => key);
const vectorCount = async () => (await database.pool.query('SELECT 1 FROM store_embedding')).rowCount;

describe('a query', () => {
  it('ranks items by the cosine of their embedded texts', async () => {
    await put('same', { text: 'ab' });
    await put('half', { text: 'a' });
    await put('other', { text: 'z' });
    const items = await find('ba');
    expect(keys(items)).toEqual(['same', 'half', 'other']);
    expect(items[0]?.score).toBeCloseTo(1, 6);
    expect(items[1]?.score).toBeCloseTo(Math.SQRT1_2, 6);
    expect(items[2]?.score).toBe(0);
    expect(asked.at(-1)).toEqual({ texts: ['ba'], as: 'query' });
  });

  it('ranks an item by its nearest text, and returns it once', async () => {
    store = opened(database.pool, { ...INDEX, fields: ['title', 'parts[*].text'] });
    await put('many', { title: 'zz', parts: [{ text: 'q' }, { text: 'ab' }] });
    await put('one', { title: 'abz' });
    const items = await find('ab');
    expect(keys(items)).toEqual(['many', 'one']);
    expect(items[0]?.score).toBeCloseTo(1, 6);
  });

  it('searches within namespace and filter, page by page', async () => {
    for (let index = 0; index < 6; index += 1) {
      await put(`k${index}`, { text: `a${'b'.repeat(index)}`, even: index % 2 === 0 });
    }
    await put('elsewhere', { text: 'a' }, { namespace: ['nn'] });
    expect(keys(await find('a', { limit: 2 }))).toEqual(['k0', 'k1']);
    expect(keys(await find('a', { limit: 2, offset: 2 }))).toEqual(['k2', 'k3']);
    const [even] = await store.batch([
      { kind: 'search', namespacePrefix: ['n'], query: 'a', filter: { even: true }, limit: 2 },
    ]);
    expect(keys(even as StoredItem[])).toEqual(['k0', 'k2']);
    expect(keys(await find('a', { namespacePrefix: ['nn'] }))).toEqual(['elsewhere']);
    expect(await find('a', { namespacePrefix: ['none'] })).toEqual([]);
  });

  it('returns items of the same score in the order of their names, page by page', async () => {
    for (const key of ['d', 'a', 'c', 'b']) await put(key, { text: 'same' });
    await put('e', { text: 'mesa' }, { namespace: ['m'] });
    expect(keys(await find('same', { limit: 2 }))).toEqual(['a', 'b']);
    expect(keys(await find('same', { limit: 2, offset: 2 }))).toEqual(['c', 'd']);
    expect(keys(await find('same', { namespacePrefix: [] }))).toEqual(['e', 'a', 'b', 'c', 'd']);
  });

  it('that is empty ranks nothing, and neither does a search without one', async () => {
    await put('k', { text: 'a' });
    await put('unembedded', { other: 'a' });
    const found = await find('');
    expect(keys(found).sort()).toEqual(['k', 'unembedded']);
    expect(found[0]).not.toHaveProperty('score');
  });
});

describe('an item', () => {
  it('without the field is stored, read and found by its fields, and has no rank', async () => {
    await put('lacking', { other: 'a' });
    await put('empty', { text: '' });
    expect(asked).toEqual([]);
    expect(await find('a')).toEqual([]);
    const [all] = await store.batch([{ kind: 'search', namespacePrefix: ['n'] }]);
    expect(keys(all as StoredItem[]).sort()).toEqual(['empty', 'lacking']);
  });

  it('can name the paths that are embedded', async () => {
    await put('none', { text: 'a' }, { index: false });
    await put('other', { text: 'zz', note: 'a' }, { index: ['note'] });
    await put('usual', { text: 'ab' });
    expect(keys(await find('a'))).toEqual(['other', 'usual']);
  });

  it('is ranked by its newest value alone, and leaves no vectors behind', async () => {
    await put('k', { text: 'a' });
    await put('k', { text: 'z' });
    expect((await find('a'))[0]?.score).toBe(0);
    expect(await vectorCount()).toBe(1);
    await put('k', { text: 'z' }, { index: false });
    expect(await vectorCount()).toBe(0);
    await put('k', { text: 'z' });
    await store.batch([{ kind: 'put', namespace: ['n'], key: 'k', value: null }]);
    expect(await vectorCount()).toBe(0);
  });

  it('that two writers put at once is ranked by the value that stayed', async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      await Promise.all([put('k', { text: 'a' }), put('k', { text: 'z' })]);
      const [found] = await find('a');
      expect(found?.score).toBe(found?.value.text === 'a' ? 1 : 0);
      expect(await vectorCount()).toBe(1);
    }
  });
});

describe('embedding', () => {
  it('requests the texts of a batch together, each once', async () => {
    await store.batch(
      ['a', 'b', 'a'].map((text, index) => ({ kind: 'put', namespace: ['n'], key: `k${index}`, value: { text } })),
    );
    expect(asked).toEqual([{ texts: ['a', 'b'], as: 'documents' }]);
    expect(await find('a')).toHaveLength(3);
  });

  it.each([
    ['throws', async () => Promise.reject(new BackendError('embedding_failed', 'the model is away')), 'is away'],
    [
      'gives other dimensions',
      async () => [[1, 2]],
      'letters makes vectors of 2 dimensions, and store.index.dims is 26',
    ],
    ['gives too few', async () => [], 'too few'],
    ['gives no numbers', async () => [new Array(26).fill(Number.NaN)], 'not numbers'],
  ])('that %s leaves the item unchanged', async (_, failing, message) => {
    await put('k', { text: 'a' });
    const broken = new PostgresStore({ pool: database.pool, index: INDEX }).open({ embed: failing });
    const operation = { kind: 'put' as const, namespace: ['n'], key: 'k', value: { text: 'z' } };
    const refused = { reason: 'embedding_failed', message: expect.stringContaining(message) };
    await expect(broken.batch([operation])).rejects.toMatchObject(refused);
    await expect(broken.batch([{ kind: 'search', namespacePrefix: [], query: 'a' }])).rejects.toMatchObject(refused);
    expect((await find('a'))[0]).toMatchObject({ value: { text: 'a' }, score: 1 });
  });

  it('with another model is not compared', async () => {
    await put('old', { text: 'a' });
    store = opened(database.pool, { ...INDEX, embeddings: 'other' });
    await put('new', { text: 'ab' });
    expect(keys(await find('a'))).toEqual(['new']);
  });

  it('of more texts than an item may have is refused', async () => {
    const texts = Array.from({ length: 1001 }, (_, index) => `t${index}`);
    await expect(put('k', { texts }, { index: ['texts[*]'] })).rejects.toMatchObject({ reason: 'invalid' });
  });

  it('of a text without meaning has the score 0', async () => {
    await put('k', { text: '...' });
    expect((await find('a'))[0]?.score).toBe(0);
    expect((await find('...'))[0]?.score).toBe(0);
  });
});

it('the store of a graph searches by meaning too, and writes no vectors once another attempt owns the thread', async () => {
  const fence = await takeOver(database.pool);
  const mine = createStore(
    checkpointModule,
    new PostgresStore({ pool: database.pool, index: INDEX }).open({ fence, embed }),
  );
  await mine.put(['n'], 'k', { text: 'a' });
  expect((await mine.search(['n'], { query: 'a' }))[0]?.score).toBe(1);
  await takeOver(database.pool, { threadId: fence.threadId });
  await expect(mine.put(['n'], 'k', { text: 'z' })).rejects.toMatchObject({ reason: 'fenced' });
  expect(await vectorCount()).toBe(1);
});

it('items, scores and order are the same with and without pgvector', async () => {
  const { pool, close } = await openVectorDatabase();
  store = opened(pool);
  const words = Array.from({ length: 300 }, (_, seed) =>
    `${seed * 7919}`.replace(/\d/g, (d) => 'aeiounrstl'.charAt(+d)),
  );
  await store.batch(words.map((text, index) => aPut(`${index}`, { text })));
  await store.batch(words.slice(0, 120).map((_, index) => aPut(`same ${index}`, { text: 'lentis' })));
  const answers = async () => {
    const pages = ['a', 'listen', 'silent', 'zz'].flatMap((query) => [
      find(query, { limit: 50 }),
      find(query, { limit: 20, offset: 40 }),
    ]);
    return Promise.all(pages);
  };
  const exact = await answers();
  expect(await installVectorExtension(pool)).toBe(true);
  store = opened(pool);
  expect(await answers()).toEqual(exact);
  await close();
});
