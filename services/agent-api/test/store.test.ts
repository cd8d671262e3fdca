import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await startDeployment();
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

  it('pages', async () => {
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
