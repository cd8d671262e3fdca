import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { newClient } from '../harness/client.ts';

const client = newClient();
const { store } = client;

it('items are written, read, found by their fields and deleted', async () => {
  const user = randomUUID();
  await store.putItem(['users', user], 'profile', { name: 'Ada', level: 3 });
  await store.putItem(['users', user, 'notes'], 'n1', { name: 'note', level: 5 });
  expect(await store.getItem(['users', user], 'profile')).toMatchObject({
    namespace: ['users', user],
    key: 'profile',
    value: { name: 'Ada', level: 3 },
    createdAt: expect.stringMatching(/^\d{4}-.*\+00:00$/),
  });
  const { items } = await store.searchItems(['users', user], { filter: { level: { $gt: 3 } } });
  expect(items.map(({ key }) => key)).toEqual(['n1']);
  const listed = (await store.listNamespaces({ prefix: ['users', user] })) as unknown as { namespaces: string[][] };
  expect(listed.namespaces).toEqual([
    ['users', user],
    ['users', user, 'notes'],
  ]);
  await store.deleteItem(['users', user], 'profile');
  expect(await store.getItem(['users', user], 'profile')).toBeNull();
});

it('items are ranked by meaning, nearest first', async () => {
  const place = ['library', randomUUID()];
  await store.putItem(place, 'exact', { text: 'dormitory' });
  await store.putItem(place, 'close', { text: 'dormitories' });
  await store.putItem(place, 'apart', { text: 'xyzzy' });
  await store.putItem(place, 'hidden', { text: 'dormitory' }, { index: false });
  const { items } = await store.searchItems(place, { query: 'dirty room', limit: 2 });
  expect(items.map(({ key }) => key)).toEqual(['exact', 'close']);
  expect(items[0]?.score).toBeCloseTo(1, 6);
});

it('items that a graph keeps are found by clients, and the other way round', async () => {
  const owner = randomUUID();
  await store.putItem(['notes', owner], 'from outside', { text: 'listen' });
  const values = await client.runs.wait(null, 'memory', { input: { owner, remember: 'enlist', about: 'silent' } });
  expect(values).toMatchObject({ recalled: ['enlist', 'listen'], scores: [1, 1] });
  const { items } = await store.searchItems(['notes', owner], { query: 'tinsel' });
  expect(items.map(({ key }) => key).sort()).toEqual(['enlist', 'from outside']);
});

it('a run whose text cannot be embedded fails and keeps nothing', async () => {
  const owner = randomUUID();
  const values = await client.runs.wait(null, 'memory', {
    input: { owner, remember: 'unembeddable' },
    raiseError: false,
  });
  expect(values).toMatchObject({
    __error__: { message: expect.stringContaining('the model refuses this text') },
  });
  expect((await store.searchItems(['notes', owner])).items).toEqual([]);
});
