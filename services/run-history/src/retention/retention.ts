import { withTransaction } from '@runyard/database';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { oldestDay } from '../journal/journal.ts';
import { createPartitions, dayOf, dropPartitions, listPartitions, takeWriterLock } from '../journal/partitions.ts';
import { removeRuns } from './remove-runs.ts';

interface Dependencies {
  pool: pg.Pool;
  logger: Logger;
  /** Days for which runs are kept. */
  retentionDays: number;
  runsPerDeploymentMax: number;
  /** Days for which statistics by minute are kept. */
  minutesRetentionDays: number;
}

/** Partitions exist for so many days ahead: the first event of a day need not wait for its own. */
const DAYS_AHEAD = 2;
const DAY_STATISTICS_KEPT_DAYS = 400;
/** Nobody waits behind a drop of partitions that waits for a long search: the next sweep tries again. */
const LOCK_WAIT_MS = 2_000;

/** Removes what is too old or too much, and creates the partitions of the coming days. */
export async function sweepHistory(dependencies: Dependencies): Promise<void> {
  const { pool, retentionDays } = dependencies;
  const today = dayOf(Date.now());
  await withTransaction(
    pool,
    async (client) => {
      await takeWriterLock(client);
      const days = Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => today + ahead);
      await createPartitions(client, days);
      for (const day of await listPartitions(client)) {
        if (day < oldestDay(retentionDays)) await dropPartitions(client, day);
      }
    },
    { lockTimeoutMs: LOCK_WAIT_MS },
  );
  await removeStatistics(dependencies);
  await removeRunsAboveMaximum(dependencies);
}

async function removeStatistics({ pool, minutesRetentionDays }: Dependencies): Promise<void> {
  for (const table of ['run_statistic', 'run_latency']) {
    await pool.query(
      `DELETE FROM ${table} WHERE step = 'minute' AND start < now() - make_interval(days => $1)
         OR step = 'day' AND start < now() - make_interval(days => $2)`,
      [minutesRetentionDays, DAY_STATISTICS_KEPT_DAYS],
    );
  }
}

/** Runs are counted by their statistics first: to count rows costs a look at each. */
async function removeRunsAboveMaximum(dependencies: Dependencies): Promise<void> {
  const { pool, retentionDays, runsPerDeploymentMax, logger } = dependencies;
  const { rows } = await pool.query<{ deployment_id: string }>(
    `SELECT deployment_id FROM run_statistic WHERE step = 'day' AND start >= now() - make_interval(days => $1)
     GROUP BY deployment_id HAVING sum(created) > $2`,
    [retentionDays + 1, runsPerDeploymentMax],
  );
  for (const { deployment_id: deploymentId } of rows) {
    const { rows: excess } = await pool.query<{ run_id: string }>(
      'SELECT run_id FROM run WHERE deployment_id = $1 ORDER BY run_id DESC OFFSET $2 LIMIT 1',
      [deploymentId, runsPerDeploymentMax - 1],
    );
    const oldestKept = excess[0]?.run_id;
    if (oldestKept === undefined) continue;
    const removed = await removeRuns(pool, { deploymentId, before: oldestKept });
    if (removed > 0) logger.info('oldest runs of a deployment removed', { deploymentId, removed });
  }
}
