import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { openPool } from '@runyard/database';
import { ApiServers, RunEngine } from '@runyard/run-engine';
import { RunStreams } from '@runyard/run-stream';
import { silentLogger as logger, Metrics } from '@runyard/service-kit';
import {
  type BackgroundPart,
  createTestDatabase,
  startStopStorm,
  type TestDatabase,
  testRedis,
} from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CronScheduler } from '../src/crons/cron-scheduler.ts';
import { SweepMetrics } from '../src/meta/sweep-metrics.ts';
import { ServerRegistration } from '../src/project/server-registration.ts';
import { createRescueRounds } from '../src/runs/rescue-rounds.ts';
import { RunWatch } from '../src/streams/run-watch.ts';
import { createThreadSweeper } from '../src/threads/thread-sweeper.ts';
import { WebhookSender } from '../src/webhooks/webhook-sender.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../packages/run-engine/prisma/migrations', import.meta.url));
/** Milliseconds between rounds of periodic parts. */
const EVERY_MS = 5;
const nothing = () => undefined;
const metrics = new SweepMetrics(new Metrics({ processMetrics: false }));

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

/** The database is empty: parts that look after its rows find none. */
const parts: BackgroundPart[] = [
  {
    name: 'the thread sweeper',
    open() {
      const settings = { sweepEveryMs: EVERY_MS, sweepLimit: 10, defaultTtl: undefined };
      const sweeper = createThreadSweeper({ engine, pool, settings, onDeleted: nothing, metrics, logger });
      return sweeper;
    },
  },
  {
    name: 'the rescue of runs',
    open() {
      const streams = new RunStreams({ redis: testRedis().url, keyPrefix: `start-stop-${randomUUID()}` });
      const state = { refresh: async () => undefined };
      const rounds = createRescueRounds({ engine, streams, state, pool, metrics, logger, everyMs: EVERY_MS });
      return {
        start: () => rounds.start(),
        async stop() {
          await rounds.stop();
          await streams.close();
        },
      };
    },
  },
  {
    name: 'the cron scheduler',
    open: () =>
      new CronScheduler({
        crons: engine.crons,
        graphIds: ['echo'],
        toRun: () => {
          throw new Error('there are no crons');
        },
        onFired: nothing,
        logger,
      }),
  },
  {
    name: 'the sender of webhooks',
    open() {
      const sender = new WebhookSender({
        queue: {
          claim: async () => ({ claimed: [], nextInMs: EVERY_MS }),
          recordOutcome: async () => true,
          release: async () => undefined,
          failAllFor: async () => 0,
        },
        deliver: async () => {
          throw new Error('there are no webhooks');
        },
        concurrency: 2,
        onResult: nothing,
        logger,
      });
      return { start: () => sender.start(), stop: () => sender.stop(1_000) };
    },
  },
  {
    name: 'the registration of the server',
    open: () =>
      new ServerRegistration({
        servers: new ApiServers(pool),
        url: 'http://127.0.0.1:1',
        token: 'token',
        revisionId: null,
        logger,
      }),
  },
  {
    name: 'the watch over runs',
    open() {
      const watch = new RunWatch({
        findInFlight: (runIds) => engine.runsInFlight(runIds),
        onError: nothing,
        checkEveryMs: EVERY_MS,
      });
      return { start: () => watch.watch(randomUUID(), nothing), stop: () => watch.close() };
    },
  },
];

it.each(parts)('$name can be started and stopped at any moment, and leaves nothing behind', async (part) => {
  expect((await startStopStorm(part)).faults).toEqual([]);
});
