import { createDataCipher } from '@runyard/encryption';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresStore, type StoreOperation } from '../src/index.ts';
import { type DeploymentDatabase, openDeploymentDatabase } from './deployment-database.ts';

const cipher = createDataCipher('k'.repeat(32), 'secret,text');
const VALUE = { secret: { word: 'kettle' }, text: 'ab', shown: 1 };

let database: DeploymentDatabase;
beforeAll(async () => {
  database = await openDeploymentDatabase();
  const put = { kind: 'put' as const, namespace: ['n'], key: 'k', value: VALUE };
  await storeWith(cipher).batch([put, { ...put, key: 'shown', value: { shown: 2 } }]);
});
afterAll(() => database.close());

/** Counts the letters a and b. */
const embed = async (texts: string[]) => texts.map((text) => [text.split('a').length - 1, text.split('b').length - 1]);
const storeWith = (own: typeof cipher) =>
  new PostgresStore({
    pool: database.pool,
    cipher: own,
    index: { embeddings: 'letters', dims: 2, fields: ['text'] },
  }).open({ embed });
const get: StoreOperation = { kind: 'get', namespace: ['n'], key: 'k' };
const search = (filter?: Record<string, unknown>, query?: string): StoreOperation => ({
  kind: 'search',
  namespacePrefix: ['n'],
  filter,
  query,
});

describe('an item with encrypted keys', () => {
  it('is not readable in its table, and is read and found by what is readable and by its meaning', async () => {
    const { rows } = await database.pool.query(`SELECT value FROM store_item WHERE key = 'k'`);
    const encrypted = expect.stringMatching(/^encrypted\.aes:/);
    expect(rows).toEqual([{ value: { secret: encrypted, text: encrypted, shown: 1 } }]);
    const store = storeWith(cipher);
    const [item, byField, byMeaning] = await store.batch([get, search({ shown: 1 }), search(undefined, 'ab')]);
    expect(item).toMatchObject({ value: VALUE });
    expect(byField).toMatchObject([{ value: VALUE }]);
    expect(byMeaning).toMatchObject([{ value: VALUE, score: expect.closeTo(1) }]);
  });

  it('is not searched by them', async () => {
    for (const filter of [{ secret: { word: 'kettle' } }, { text: { $ne: 'x' } }]) {
      await expect(storeWith(cipher).batch([search(filter)])).rejects.toMatchObject({
        reason: 'invalid',
        message: expect.stringContaining('is encrypted at rest'),
      });
    }
  });

  it('cannot be read after its key was lost, and hides no other item', async () => {
    const store = storeWith(createDataCipher('o'.repeat(32)));
    await expect(store.batch([get])).rejects.toMatchObject({ reason: 'unreadable' });
    const lost = { __error__: expect.objectContaining({ error: 'SealingError' }) };
    const [items] = await store.batch([search()]);
    expect(items).toHaveLength(2);
    expect(items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ value: { secret: lost, text: lost, shown: 1 } }),
        expect.objectContaining({ value: { shown: 2 } }),
      ]),
    );
  });
});
