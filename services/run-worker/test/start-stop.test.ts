import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { openPool } from '@runyard/database';
import { RunEngine } from '@runyard/run-engine';
import { silentLogger as logger } from '@runyard/service-kit';
import { type BackgroundPart, createTestDatabase, startStopStorm, type TestDatabase } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ClaimLoop } from '../src/claiming/claim-loop.ts';
import { HostSupervisor } from '../src/hosts/host-supervisor.ts';
import { LeaseKeeper } from '../src/leases/lease-keeper.ts';
import { FakeHost, workerMetrics } from './fakes.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../packages/run-engine/prisma/migrations', import.meta.url));
/** Milliseconds between rounds of periodic parts. */
const EVERY_MS = 5;
const nothing = () => undefined;
const metrics = workerMetrics();

let database: TestDatabase;
let pool: pg.Pool;
let engine: RunEngine;
beforeAll(async () => {
  database = await createTestDatabase(MIGRATIONS);
  pool = openPool({ connectionString: database.url, max: 5, applicationName: 'start-stop' });
  engine = new RunEngine({ pool, deploymentId: 'test', source: '/test' });
});
afterAll(async () => {
  await engine.close();
  await pool.end();
  await database.close();
});

/** The database is empty: no run is claimed. */
const parts: BackgroundPart[] = [
  {
    name: 'the claim loop',
    open: () =>
      new ClaimLoop({
        engine,
        workerId: randomUUID(),
        freeSlots: () => 1,
        freeIsolatedHosts: () => 1,
        start: nothing,
        hold: nothing,
        nextWakeup: () => new Promise(nothing),
        passOn: nothing,
        metrics,
        logger,
        pollEveryMs: EVERY_MS,
      }),
  },
  {
    name: 'the lease',
    open() {
      const lease = new LeaseKeeper({
        engine,
        worker: { workerId: randomUUID(), revisionId: 'test', slots: 1 },
        runs: { fences: () => [], cancel: nothing, lose: nothing, loseAll: nothing },
        leaseMs: 3 * EVERY_MS,
        metrics,
        logger,
      });
      return { start: () => lease.start(), stop: () => lease.close() };
    },
  },
  {
    name: 'the supervision of graph hosts',
    open() {
      const hosts = new HostSupervisor({
        start: async () => new FakeHost().host as never,
        onReady: nothing,
        onLost: nothing,
        logger,
        pingEveryMs: EVERY_MS,
      });
      return { start: () => hosts.start(), stop: () => hosts.close(10) };
    },
  },
];

it.each(parts)('$name can be started and stopped at any moment, and leaves nothing behind', async (part) => {
  expect((await startStopStorm(part)).faults).toEqual([]);
});
