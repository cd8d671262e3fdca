import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

const store = () => deployment.client.store;
const put = (body: object) => ask(`${deployment.url}/store/items`, { method: 'PUT', body });

describe('items of the store', () => {
  it('are written, read, overwritten and deleted', async () => {
    await store().putItem(['users', 'ada'], 'k', { n: 1 });
    const first = await store().getItem(['users', 'ada'], 'k');
    expect(first).toMatchObject({ namespace: ['users', 'ada'], key: 'k', value: { n: 1 } });
    expect(first).not.toHaveProperty('score');
    await store().putItem(['users', 'ada'], 'k', { n: 2 });
    expect(await store().getItem(['users', 'ada'], 'k')).toMatchObject({
      value: { n: 2 },
      created_at: (first as unknown as { created_at: string }).created_at,
    });
    await store().deleteItem(['users', 'ada'], 'k');
    expect(await store().getItem(['users', 'ada'], 'k')).toBeNull();
    await store().deleteItem(['users', 'ada'], 'k');
  });

  it('may have an empty key and any JSON in their value', async () => {
    const value = { text: 'ü\u0000', deep: [1, { a: null }] };
    expect((await put({ namespace: ['any'], key: '', value })).status).toBe(204);
    expect(await store().getItem(['any'], '')).toMatchObject({ value: { deep: [1, { a: null }] } });
  });

  it('are refused in a wrong namespace', async () => {
    expect(await put({ namespace: ['a.b'], key: 'k', value: {} })).toMatchObject({
      status: 422,
      json: { detail: "Namespace label 'a.b' must be a non-empty string without periods" },
    });
    expect(await put({ namespace: [], key: 'k', value: {} })).toMatchObject({
      status: 400,
      json: { detail: 'Namespace cannot be empty.' },
    });
    expect((await put({ namespace: ['langgraph', 'x'], key: 'k', value: {} })).status).toBe(400);
  });

  it('need a key and a namespace to be read', async () => {
    expect(await ask(`${deployment.url}/store/items?namespace=a`)).toMatchObject({
      status: 400,
      json: { detail: 'Key is required' },
    });
    expect((await ask(`${deployment.url}/store/items?key=k`)).status).toBe(422);
  });
});

describe('searching items', () => {
  beforeAll(async () => {
    for (let n = 0; n < 4; n++) await store().putItem(['searched', n < 2 ? 'low' : 'high'], `k${n}`, { n, kind: 'x' });
    await store().putItem(['searchedelse'], 'k', { n: 9 });
  });

  it('takes whole labels of the namespace and gives a score field', async () => {
    const { items } = await store().searchItems(['searched']);
    expect(items.map(({ key }) => key).sort()).toEqual(['k0', 'k1', 'k2', 'k3']);
    expect(items[0]).toHaveProperty('score', null);
  });

  it('filters by equality and by operators', async () => {
    const keys = async (filter: object) =>
      (await store().searchItems(['searched'], { filter: filter as never })).items.map(({ key }) => key).sort();
    expect(await keys({ n: 1 })).toEqual(['k1']);
    expect(await keys({ n: { $gte: 1, $lt: 3 }, kind: 'x' })).toEqual(['k1', 'k2']);
    expect(await keys({ n: { $ne: 0 } })).toEqual(['k1', 'k2', 'k3']);
  });

  it('refuses an operator it does not know instead of matching anything', async () => {
    const answer = await ask(`${deployment.url}/store/items/search`, {
      body: { namespace_prefix: ['searched'], filter: { n: { $regex: '.' } } },
    });
    expect(answer).toMatchObject({ status: 422, json: { detail: expect.stringContaining('$regex') } });
  });

  it('returns pages', async () => {
    const { items } = await store().searchItems(['searched'], { limit: 3, offset: 3 });
    expect(items).toHaveLength(1);
  });

  it('lists namespaces by prefix, suffix and depth', async () => {
    const list = async (options: object) =>
      (await store().listNamespaces(options)) as unknown as { namespaces: string[][] };
    expect((await list({ prefix: ['searched'] })).namespaces.sort()).toEqual([
      ['searched', 'high'],
      ['searched', 'low'],
    ]);
    expect((await list({ prefix: ['*', 'low'] })).namespaces).toEqual([['searched', 'low']]);
    expect((await list({ suffix: ['high'] })).namespaces).toEqual([['searched', 'high']]);
    expect((await list({ prefix: ['searched'], maxDepth: 1 })).namespaces).toEqual([['searched']]);
  });
});

describe('searching by meaning', () => {
  const search = (namespace: string, query: string) => store().searchItems(['meant', namespace], { query });

  it('ranks what the project embeds of the items', async () => {
    await store().putItem(['meant', 'ranked'], 'far', { text: 'zzz' });
    await store().putItem(['meant', 'ranked'], 'near', { text: 'able was I' });
    await store().putItem(['meant', 'ranked'], 'without text', { note: 'able was I' });
    const { items } = await search('ranked', 'I was able');
    expect(items.map(({ key, score }) => [key, score])).toEqual([
      ['near', expect.closeTo(1, 6)],
      ['far', 0],
    ]);
  });

  it('covers the fields that the item names', async () => {
    await store().putItem(['meant', 'own'], 'none', { text: 'a' }, { index: false });
    await store().putItem(
      ['meant', 'own'],
      'other',
      { parts: [{ note: 'z' }, { note: 'a' }] },
      { index: ['parts[*].note'] },
    );
    const { items } = await search('own', 'a');
    expect(items.map(({ key, score }) => [key, score])).toEqual([['other', 1]]);
  });

  it('is 502 when the embeddings fail, and writes nothing', async () => {
    const failed = { status: 502, json: { detail: expect.stringContaining('the model refuses this text') } };
    expect(await put({ namespace: ['meant', 'failing'], key: 'k', value: { text: 'unembeddable' } })).toMatchObject(
      failed,
    );
    expect(await store().getItem(['meant', 'failing'], 'k')).toBeNull();
    const body = { namespace_prefix: ['meant'], query: 'unembeddable' };
    expect(await ask(`${deployment.url}/store/items/search`, { body })).toMatchObject(failed);
  });
});

describe('items with a time to live', () => {
  const leftOf = async (key: string) => {
    const { rows } = await deployment.pool.query<{ left: number | null }>(
      'SELECT extract(epoch FROM expires_at - now())::float8 / 60 AS left FROM store_item WHERE key = $1',
      [key],
    );
    return rows[0]?.left ?? null;
  };
  const spend = (key: string, minutes: number) =>
    deployment.pool.query('UPDATE store_item SET expires_at = expires_at - make_interval(mins => $2) WHERE key = $1', [
      key,
      minutes,
    ]);

  it('are deleted when it has expired', async () => {
    await store().putItem(['timed'], 'over', { n: 1 }, { ttl: 10 });
    expect(await leftOf('over')).toBeCloseTo(10, 0);
    await spend('over', 10);
    expect(await store().getItem(['timed'], 'over')).toBeNull();
  });

  it('live on when they are read, unless the read says otherwise', async () => {
    await store().putItem(['timed', 'read'], 'read', { n: 1 }, { ttl: 10 });
    await spend('read', 5);
    await store().getItem(['timed', 'read'], 'read', { refreshTtl: false });
    await store().searchItems(['timed', 'read'], { refreshTtl: false });
    expect(await leftOf('read')).toBeCloseTo(5, 0);
    await store().getItem(['timed', 'read'], 'read');
    expect(await leftOf('read')).toBeCloseTo(10, 0);
    await spend('read', 5);
    await store().searchItems(['timed', 'read']);
    expect(await leftOf('read')).toBeCloseTo(10, 0);
  });

  it.each([0, -2, -0.5, 1e10, 'soon'])('are refused with a ttl of %j', async (ttl) => {
    const answer = await put({ namespace: ['timed'], key: 'k', value: {}, ttl });
    expect(answer).toMatchObject({ status: 422, json: { detail: expect.stringContaining('ttl') } });
  });
});

describe('requests that ask too much', () => {
  it.each([
    [{ namespace: ['a'], key: 'k'.repeat(5000), value: {} }, 'namespace and key'],
    [{ namespace: new Array(400).fill('a'), key: 'k', value: {} }, 'namespace and key'],
    [{ namespace: ['a'], key: 'k', value: {}, index: ['a['] }, 'index'],
    [{ namespace: ['a'], key: 'k', value: ['list'] }, 'value'],
  ])('are 422 and name the field', async (body, name) => {
    expect(await put(body)).toMatchObject({ status: 422, json: { detail: expect.stringContaining(name) } });
  });

  it('answer pages past the end with nothing', async () => {
    const search = (body: object) => ask(`${deployment.url}/store/items/search`, { body });
    expect(await search({ offset: 2 ** 31 - 1 })).toMatchObject({ status: 200, json: { items: [] } });
    expect(await search({ query: 'a', offset: 2 ** 31 - 1 })).toMatchObject({ status: 200, json: { items: [] } });
    expect((await search({ offset: 2 ** 40 })).status).toBe(422);
    expect((await search({ limit: 0 })).status).toBe(422);
  });
});
