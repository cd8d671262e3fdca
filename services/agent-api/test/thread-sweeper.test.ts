import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { openPool } from '@runyard/database';
import { RunEngine } from '@runyard/run-engine';
import { silentLogger as logger, Metrics } from '@runyard/service-kit';
import { createTestDatabase, waitFor } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { SweepMetrics } from '../src/meta/sweep-metrics.ts';
import { createThreadSweeper } from '../src/threads/thread-sweeper.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../packages/run-engine/prisma/migrations', import.meta.url));

it('a sweep goes on until no thread is expired, however few it takes at a time', async () => {
  const database = await createTestDatabase(MIGRATIONS);
  const pool = openPool({ connectionString: database.url, max: 3, applicationName: 'thread-sweeper-test' });
  const engine = new RunEngine({ pool, deploymentId: 'test', source: '/test' });
  for (let index = 0; index < 5; index += 1) {
    await engine.createThread({ threadId: randomUUID(), metadata: {}, ifExists: 'raise' });
  }
  await pool.query(`UPDATE thread SET expires_at = now() - interval '1 minute', ttl_strategy = 'delete'`);
  expect(await engine.histories.secondsBehind()).toBeGreaterThanOrEqual(60);
  const sweeper = createThreadSweeper({
    engine,
    pool,
    settings: { sweepEveryMs: 3_600_000, sweepLimit: 2, defaultTtl: undefined },
    onDeleted: () => undefined,
    metrics: new SweepMetrics(new Metrics({ processMetrics: false })),
    logger,
  });
  sweeper.start();
  await waitFor(async () => (await pool.query('SELECT 1 FROM thread')).rowCount === 0);
  expect(await engine.histories.secondsBehind()).toBe(0);
  await sweeper.stop();
  await engine.close();
  await pool.end();
  await database.close();
});
