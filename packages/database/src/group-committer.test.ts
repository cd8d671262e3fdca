import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CommitRefusedError, type FlushReport, GroupCommitter, openPool, toSqlJson } from './index.ts';

interface Row {
  key: string;
  value: string;
}

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool({ connectionString: database.url, max: 8, applicationName: 'test' });
  await pool.query('CREATE TABLE item (seq bigint GENERATED ALWAYS AS IDENTITY, key text PRIMARY KEY, value jsonb)');
});
afterAll(async () => {
  await pool.end();
  await database.close();
});
beforeEach(() => pool.query('TRUNCATE item'));

const insertAll = async (rows: Row[]): Promise<string[]> => {
  await pool.query(
    `INSERT INTO item (key, value) SELECT * FROM unnest($1::text[], $2::jsonb[])
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    [rows.map(({ key }) => key), rows.map(({ value }) => value)],
  );
  return rows.map(({ key }) => key);
};
const storedKeys = async () =>
  (await pool.query<{ key: string }>('SELECT key FROM item ORDER BY seq')).rows.map(({ key }) => key);
const row = (key: string, value = '1'): Row => ({ key, value });

/** Makes a flush that stays in flight until the test ends it. */
function heldFlush() {
  const flights: { items: Row[]; letGo(): void; fail(error: Error): void }[] = [];
  const flush = (items: Row[]) =>
    new Promise<string[]>((resolve, reject) => {
      flights.push({ items, letGo: () => resolve(items.map(({ key }) => key)), fail: reject });
    });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { flights, flush, turn };
}

describe('GroupCommitter against Postgres', () => {
  it('writes what many callers submit together in few statements and returns each its own result', async () => {
    const reports: FlushReport[] = [];
    const committer = new GroupCommitter({ name: 'test', flush: insertAll, onFlush: (report) => reports.push(report) });
    const keys = Array.from({ length: 200 }, (_, index) => `k${index}`);
    expect(await Promise.all(keys.map((key) => committer.submit(row(key))))).toEqual(keys);
    expect(reports.map(({ items, outcome }) => [items, outcome])).toEqual([[200, 'committed']]);
    expect(await storedKeys()).toEqual(keys);
  });

  it('splits a flush with the same key twice until each stands alone, and no item fails', async () => {
    const committer = new GroupCommitter({ name: 'test', flush: insertAll });
    await Promise.all([committer.submit(row('a', '1')), committer.submit(row('b')), committer.submit(row('a', '2'))]);
    const { rows } = await pool.query(`SELECT key, value FROM item ORDER BY key`);
    expect(rows).toEqual([
      { key: 'a', value: 2 },
      { key: 'b', value: 1 },
    ]);
  });

  it('needs no split for the same key twice with one item per key and flush', async () => {
    const reports: FlushReport[] = [];
    const committer = new GroupCommitter({
      name: 'test',
      flush: insertAll,
      keyOf: ({ key }) => key,
      maxItemsPerKey: 1,
      onFlush: (report) => reports.push(report),
    });
    await Promise.all([committer.submit(row('a', '1')), committer.submit(row('b')), committer.submit(row('a', '2'))]);
    expect(reports.map(({ items, outcome }) => [items, outcome])).toEqual([
      [2, 'committed'],
      [1, 'committed'],
    ]);
  });

  it('fails one bad row among good ones alone: U+0000 in jsonb', async () => {
    const committer = new GroupCommitter({ name: 'test', flush: insertAll });
    const submitted = Array.from({ length: 33 }, (_, index) =>
      committer.submit(row(`k${index}`, index === 17 ? '"\\u0000"' : '1')),
    );
    const results = await Promise.allSettled(submitted);
    expect(results.map(({ status }, index) => status === (index === 17 ? 'rejected' : 'fulfilled'))).not.toContain(
      false,
    );
    expect(results[17]).toMatchObject({ reason: { code: '22P05' } });
    expect(await storedKeys()).toHaveLength(32);
  });

  it('accepts JSON of toSqlJson, without refusals for U+0000 or lone surrogates', async () => {
    const committer = new GroupCommitter({ name: 'test', flush: insertAll });
    await committer.submit(row('a', toSqlJson({ 'k\u0000': 'x\u0000y', s: '\ud83d', fine: '😀 \\u0000' })));
    const { rows } = await pool.query('SELECT value FROM item');
    expect(rows[0].value).toEqual({ 'k\ufffd': 'x\ufffdy', s: '\ufffd', fine: '😀 \\u0000' });
  });

  it.each(['57014', '55P03'])(
    'fails an item that takes too long or waits for a lock alone, and the others of its flush go on (%s)',
    async (code) => {
      const flush = async (rows: Row[]) => {
        if (rows.some(({ key }) => key === 'bad')) throw Object.assign(new Error('not in time'), { code });
        return insertAll(rows);
      };
      const committer = new GroupCommitter({ name: 'test', flush, maxItems: 4 });
      const keys = ['a', 'bad', 'b', 'c', 'later'];
      const results = await Promise.allSettled(keys.map((key) => committer.submit(row(key))));
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
        'fulfilled',
      ]);
    },
  );

  it('leaves repeating a deadlock to the flush, which has done so when it fails', async () => {
    let flushes = 0;
    const flush = async (): Promise<string[]> => {
      flushes += 1;
      throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
    };
    const committer = new GroupCommitter({ name: 'test', flush });
    await expect(committer.submit(row('a'))).rejects.toMatchObject({ code: '40P01' });
    expect(flushes).toBe(1);
  });

  it('refuses later items of a key after a refused one when a key must be a prefix', async () => {
    interface Step {
      thread: string;
      row: Row;
    }
    const committer = new GroupCommitter({
      name: 'test',
      flush: (steps: Step[]) => insertAll(steps.map((step) => step.row)),
      keyOf: ({ thread }) => thread,
      onItemFailure: 'restOfKey',
    });
    const results = await Promise.allSettled([
      committer.submit({ thread: 'x', row: row('x1') }),
      committer.submit({ thread: 'y', row: row('y1') }),
      committer.submit({ thread: 'x', row: row('x2', '"\\u0000"') }),
      committer.submit({ thread: 'y', row: row('y2') }),
      committer.submit({ thread: 'x', row: row('x3') }),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
    ]);
    expect((await storedKeys()).sort()).toEqual(['x1', 'y1', 'y2']);
  });
});

describe('GroupCommitter order and limits', () => {
  it('starts a flush when the last one returns, with everything that arrived in between', async () => {
    const { flights, flush, turn } = heldFlush();
    const committer = new GroupCommitter({ name: 'test', flush });
    void committer.submit(row('a'));
    await turn();
    void committer.submit(row('b'));
    void committer.submit(row('c'));
    await turn();
    expect(flights.map(({ items }) => items.map(({ key }) => key))).toEqual([['a']]);
    flights[0]!.letGo();
    await turn();
    await turn();
    expect(flights[1]?.items.map(({ key }) => key)).toEqual(['b', 'c']);
    flights[1]!.letGo();
    await committer.close();
  });

  it('keeps items of one key in order and never in two flushes at once, and lets others overtake them', async () => {
    const { flights, flush, turn } = heldFlush();
    const committer = new GroupCommitter({ name: 'test', flush, keyOf: ({ key }) => key, maxConcurrentFlushes: 3 });
    void committer.submit(row('a', '1'));
    await turn();
    void committer.submit(row('a', '2'));
    void committer.submit(row('b', '1'));
    void committer.submit(row('a', '3'));
    await turn();
    expect(flights.map(({ items }) => items.map(({ key, value }) => key + value))).toEqual([['a1'], ['b1']]);
    flights[0]!.letGo();
    await turn();
    await turn();
    expect(flights[2]?.items.map(({ key, value }) => key + value)).toEqual(['a2', 'a3']);
    for (const flight of flights.slice(1)) flight.letGo();
    await committer.close();
  });

  it('keeps order per key under a random load over several lanes', async () => {
    const written = new Map<string, number[]>();
    const inFlight = new Set<string>();
    const committer = new GroupCommitter({
      name: 'test',
      keyOf: ({ key }: Row) => key,
      maxConcurrentFlushes: 4,
      maxItems: 16,
      flush: async (rows: Row[]) => {
        const keys = new Set(rows.map(({ key }) => key));
        for (const key of keys) {
          expect(inFlight.has(key)).toBe(false);
          inFlight.add(key);
        }
        await pool.query('SELECT pg_sleep(random() * 0.004)');
        for (const { key, value } of rows) written.set(key, [...(written.get(key) ?? []), Number(value)]);
        for (const key of keys) inFlight.delete(key);
        return rows.map(() => undefined);
      },
    });
    const all: Promise<unknown>[] = [];
    for (let index = 0; index < 2000; index += 1) {
      all.push(committer.submit(row(`k${Math.floor(Math.random() * 12)}`, String(index))));
      if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(all);
    for (const values of written.values()) expect(values).toEqual([...values].sort((a, b) => a - b));
  });

  it('limits a flush in items and bytes, and writes an item above the limit alone', async () => {
    const reports: FlushReport[] = [];
    const committer = new GroupCommitter({
      name: 'test',
      flush: async (rows: Row[]) => rows.map(() => undefined),
      maxItems: 4,
      maxBytes: 100,
      sizeOf: ({ value }) => value.length,
      onFlush: (report) => reports.push(report),
    });
    const sizes = [10, 10, 10, 10, 10, 80, 500, 50, 50, 1];
    await Promise.all(sizes.map((size, index) => committer.submit(row(`k${index}`, 'x'.repeat(size)))));
    expect(reports.map(({ items, bytes }) => [items, bytes])).toEqual([
      [4, 40],
      [2, 90],
      [1, 500],
      [2, 100],
      [1, 1],
    ]);
  });

  it('refuses when too much waits, reports when there is room again, and loses nothing it accepted', async () => {
    const { flights, flush, turn } = heldFlush();
    const committer = new GroupCommitter({ name: 'orders', flush, maxWaitingItems: 2 });
    const taken = [committer.submit(row('a'))];
    await turn();
    taken.push(committer.submit(row('b')), committer.submit(row('c')));
    await expect(committer.submit(row('d'))).rejects.toMatchObject({ name: 'CommitRefusedError', reason: 'full' });
    const room = committer.waitForRoom();
    flights[0]!.letGo();
    await turn();
    await turn();
    flights[1]!.letGo();
    await room;
    expect(await Promise.all(taken)).toEqual(['a', 'b', 'c']);
  });

  it('accepts nothing more when closed, and waits for everything that was submitted', async () => {
    const committer = new GroupCommitter({ name: 'test', flush: insertAll, maxItems: 3 });
    const submitted = Array.from({ length: 10 }, (_, index) => committer.submit(row(`k${index}`)));
    const closed = committer.close();
    await expect(committer.submit(row('late'))).rejects.toBeInstanceOf(CommitRefusedError);
    await closed;
    expect(await storedKeys()).toHaveLength(10);
    await Promise.all(submitted);
  });

  it('fails the flush of an error that is not about data, and goes on with the next one', async () => {
    let broken = true;
    const committer = new GroupCommitter({
      name: 'test',
      flush: async (rows: Row[]) => {
        if (broken) throw new Error('Connection terminated unexpectedly');
        return insertAll(rows);
      },
    });
    const results = await Promise.allSettled([committer.submit(row('a')), committer.submit(row('b'))]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    broken = false;
    await expect(committer.submit(row('a'))).resolves.toBe('a');
  });
});

describe('GroupCommitter while the database is unavailable', () => {
  it('fails what waited for the failed flush, and tries what arrived during it', async () => {
    const { flights, flush, turn } = heldFlush();
    const committer = new GroupCommitter({ name: 'test', flush, maxItems: 1, keyOf: ({ key }) => key });
    const [first, second, third] = ['a', 'b', 'a'].map((key) => committer.submit(row(key)).catch((error) => error));
    await turn();
    const late = committer.submit(row('c'));
    flights[0]!.fail(new Error('Connection terminated unexpectedly'));
    for (const failed of [first, second, third]) {
      expect(await failed).toMatchObject({ message: 'Connection terminated unexpectedly' });
    }
    await turn();
    await turn();
    flights[1]!.letGo();
    expect(await late).toBe('c');
    expect([flights.length, committer.waiting]).toEqual([2, 0]);
    await committer.close();
  });
});
