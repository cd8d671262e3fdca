import { randomUUID } from 'node:crypto';
import { openPool } from '@runyard/database';
import { createTestDatabase, type TestDatabase, waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acquireLease, acquireLeases, Lease, releaseLease } from './index.ts';
import { releaseLeasesOf } from './lease.ts';

let database: TestDatabase;
let pool: pg.Pool;
const [a, b] = [randomUUID(), randomUUID()];

beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool({ connectionString: database.url, max: 8, applicationName: 'test' });
  await pool.query('CREATE TABLE duty (name text PRIMARY KEY, holder uuid NOT NULL, lease_until timestamptz NOT NULL)');
});
afterAll(async () => {
  await pool.end();
  await database.close();
});

describe('a lease', () => {
  it('has one owner at a time, who renews it; others wait until it is released', async () => {
    const claim = { name: 'sweep', leaseMs: 60_000 };
    expect(await acquireLease(pool, { ...claim, owner: a })).toBe(true);
    expect(await acquireLease(pool, { ...claim, owner: b })).toBe(false);
    expect(await acquireLease(pool, { ...claim, owner: a })).toBe(true);
    await releaseLease(pool, { name: 'sweep', owner: b });
    expect(await acquireLease(pool, { ...claim, owner: b })).toBe(false);
    await releaseLease(pool, { name: 'sweep', owner: a });
    expect(await acquireLease(pool, { ...claim, owner: b })).toBe(true);
  });

  it('is taken and renewed with many others at once, and excludes those of other owners', async () => {
    await acquireLease(pool, { name: 'many of b', owner: b, leaseMs: 60_000 });
    await acquireLease(pool, { name: 'many lapsed', owner: b, leaseMs: 0 });
    const claim = { names: ['many new', 'many of b', 'many lapsed', 'many new'], owner: a, leaseMs: 60_000 };
    const held = new Set(['many new', 'many lapsed']);
    expect(await acquireLeases(pool, claim)).toEqual(held);
    expect(await acquireLeases(pool, claim)).toEqual(held);
    expect(await acquireLeases(pool, { ...claim, names: [] })).toEqual(new Set());
  });

  it('goes to one of two processes that take the same ones at once', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `shared ${index}`);
    const [ofA, ofB] = await Promise.all([
      acquireLeases(pool, { names, owner: a, leaseMs: 60_000 }),
      acquireLeases(pool, { names: names.toReversed(), owner: b, leaseMs: 60_000 }),
    ]);
    expect(ofA.size + ofB.size).toBe(names.length);
    expect(new Set([...ofA, ...ofB]).size).toBe(names.length);
  });

  it('that has expired may be taken by any process', async () => {
    await acquireLease(pool, { name: 'lapsing', owner: a, leaseMs: 30 });
    await waitFor(() => acquireLease(pool, { name: 'lapsing', owner: b, leaseMs: 60_000 }));
    expect(await acquireLease(pool, { name: 'lapsing', owner: a, leaseMs: 30 })).toBe(false);
  });

  it('from before the clock was set back does not delay others', async () => {
    await acquireLease(pool, { name: 'set back', owner: a, leaseMs: 3_600_000 });
    expect(await acquireLease(pool, { name: 'set back', owner: b, leaseMs: 5_000 })).toBe(true);
  });

  it('that many processes request at once goes to exactly one', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => acquireLease(pool, { name: 'rush', owner: randomUUID(), leaseMs: 60_000 })),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
  });

  it('ends with all others of its owner when that is known to be dead', async () => {
    const [dead, alive] = [randomUUID(), randomUUID()];
    await acquireLeases(pool, { names: ['one of the dead', 'another of the dead'], owner: dead, leaseMs: 60_000 });
    await acquireLease(pool, { name: 'of the living', owner: alive, leaseMs: 60_000 });
    expect(await releaseLeasesOf(pool, [dead])).toBe(2);
    expect(await acquireLease(pool, { name: 'one of the dead', owner: b, leaseMs: 60_000 })).toBe(true);
    expect(await acquireLease(pool, { name: 'of the living', owner: b, leaseMs: 60_000 })).toBe(false);
  });

  it('is queried only once in a third of its time, and does not count when it could not be renewed', async () => {
    let now = 0;
    const first = new Lease(pool, { name: 'loop', owner: a, leaseMs: 30_000 }, () => now);
    expect(await first.isMine()).toBe(true);
    await pool.query(`UPDATE duty SET holder = $1, lease_until = now() + interval '1 minute' WHERE name = 'loop'`, [b]);
    now = 9_999;
    expect(await first.isMine()).toBe(true);
    now = 10_001;
    expect(await first.isMine()).toBe(false);
    await pool.query(`DELETE FROM duty WHERE name = 'loop'`);
    expect(await first.isMine()).toBe(true);
    await first.release();
    expect(await new Lease(pool, { name: 'loop', owner: b, leaseMs: 30_000 }).isMine()).toBe(true);
  });
});
