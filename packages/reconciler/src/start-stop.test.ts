import { randomUUID } from 'node:crypto';
import { openPool } from '@runyard/database';
import { silentLogger as logger } from '@runyard/service-kit';
import { createTestDatabase, startStopStorm } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { LeasedOwnership } from './ownership.ts';
import { Reconciler } from './reconciler.ts';

/** Milliseconds between rounds. */
const EVERY_MS = 5;

it('the reconciler can be started and stopped at any moment, and leaves nothing behind', async () => {
  const database = await createTestDatabase();
  const pool = openPool({ connectionString: database.url, max: 5, applicationName: 'start-stop' });
  await pool.query('CREATE TABLE duty (name text PRIMARY KEY, holder uuid NOT NULL, lease_until timestamptz NOT NULL)');
  /** Opens a reconciler with no deployment to work on. */
  const open = () => {
    const reconciler = new Reconciler({
      store: {
        allIds: async () => (await pool.query<{ id: string }>('SELECT 1 AS id WHERE false')).rows.map(({ id }) => id),
      },
      workOn: () => ({}) as never,
      ownership: new LeasedOwnership({ pool, leaseOwner: randomUUID(), leaseMs: 4 * EVERY_MS }),
      sweepMs: EVERY_MS,
      logger,
    });
    return { start: () => reconciler.start(), stop: () => reconciler.stop(0) };
  };
  try {
    expect((await startStopStorm({ name: 'the reconciler', open })).faults).toEqual([]);
  } finally {
    await pool.end();
    await database.close();
  }
});
