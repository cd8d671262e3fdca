import { withTransaction } from '@runyard/database';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { createPartitions, dropPartitions, listPartitions, weekOf } from '../journal/partitions.ts';
import { oldestKept } from '../runs/retention-time.ts';
import { takeWriterLock } from '../writer-lock.ts';
import { deleteInSteps } from './delete-in-steps.ts';

interface Dependencies {
  pool: pg.Pool;
  logger: Logger;
  /** Days for which runs are kept. */
  retentionDays: number;
  runsPerDeploymentMax: number;
  /** Days for which statistics by minute, and usage by hour, are kept. */
  minutesRetentionDays: number;
  /** Rows of usage of one deployment. Default: a million. */
  usageRowsMax?: number;
}

const DAYS_KEPT_DAYS = 400;
/** Rows of usage of one deployment, about: code of its project names models and users. */
const USAGE_ROWS_MAX = 1_000_000;
/** Nobody waits behind a change of partitions that waits for a long search: the next sweep tries again. */
const LOCK_WAIT_MS = 2_000;

/** Removes what is too old or too much, and creates the partitions of this week and the next. */
export async function sweepHistory(dependencies: Dependencies): Promise<void> {
  const { pool, retentionDays } = dependencies;
  const week = weekOf(Date.now());
  await changePartitions(pool, (client) => createPartitions(client, new Set([week, week + 1])));
  const oldest = weekOf(oldestKept(retentionDays));
  for (const old of (await listPartitions(pool)).filter((each) => each < oldest)) {
    await changePartitions(pool, (client) => dropPartitions(client, old));
  }
  await removeSums(dependencies);
  await removeRunsAboveMaximum(dependencies);
  await removeUsageAboveMaximum(dependencies);
  await removeEndedPeriods(dependencies);
}

function changePartitions(pool: pg.Pool, change: (client: pg.ClientBase) => Promise<void>): Promise<void> {
  const work = async (client: pg.ClientBase) => {
    await takeWriterLock(client);
    await change(client);
  };
  return withTransaction(pool, work, { lockTimeoutMs: LOCK_WAIT_MS });
}

/** Removes what budgets counted in periods that ended a day ago: an event may come late. */
async function removeEndedPeriods({ pool }: Dependencies): Promise<void> {
  await pool.query(
    `DELETE FROM budget_use u USING budget b
     WHERE b.budget_id = u.budget_id AND u.start < date_trunc(b.period, now() - interval '1 day', 'UTC')`,
  );
}

async function removeSums({ pool, minutesRetentionDays }: Dependencies): Promise<void> {
  for (const table of ['run_statistic', 'run_latency', 'usage'] as const) {
    await deleteInSteps(pool, table, {
      condition: `step IN ('minute', 'hour') AND start < now() - make_interval(days => $1)
        OR step = 'day' AND start < now() - make_interval(days => $2)`,
      values: [minutesRetentionDays, DAYS_KEPT_DAYS],
    });
  }
}

/** Runs are counted by their statistics first: to count rows costs a look at each. */
async function removeRunsAboveMaximum(dependencies: Dependencies): Promise<void> {
  const { pool, retentionDays, runsPerDeploymentMax, logger } = dependencies;
  const { rows } = await pool.query<{ deployment_id: string }>(
    `SELECT deployment_id FROM run_statistic WHERE step = 'day' AND start >= now() - make_interval(days => $1)
     GROUP BY deployment_id HAVING sum(created) > $2`,
    [retentionDays + 8, runsPerDeploymentMax],
  );
  for (const { deployment_id: deploymentId } of rows) {
    const { rows: excess } = await pool.query<{ run_id: string }>(
      'SELECT run_id FROM run WHERE deployment_id = $1 ORDER BY run_id DESC OFFSET $2 LIMIT 1',
      [deploymentId, runsPerDeploymentMax - 1],
    );
    const oldest = excess[0]?.run_id;
    if (oldest === undefined) continue;
    const removed = await deleteInSteps(pool, 'run', {
      condition: 'deployment_id = $1 AND run_id < $2',
      values: [deploymentId, oldest],
    });
    if (removed > 0) logger.info('oldest runs of a deployment removed', { deploymentId, removed });
  }
}

async function removeUsageAboveMaximum({ pool, logger, usageRowsMax = USAGE_ROWS_MAX }: Dependencies): Promise<void> {
  const { rows } = await pool.query<{ deployment_id: string }>(
    'SELECT deployment_id FROM usage GROUP BY deployment_id HAVING count(*) > $1',
    [usageRowsMax],
  );
  for (const { deployment_id: deploymentId } of rows) {
    const { rows: excess } = await pool.query<{ start: Date }>(
      'SELECT start FROM usage WHERE deployment_id = $1 ORDER BY start DESC OFFSET $2 LIMIT 1',
      [deploymentId, usageRowsMax],
    );
    const newest = excess[0]?.start;
    if (newest === undefined) continue;
    const removed = await deleteInSteps(pool, 'usage', {
      condition: 'deployment_id = $1 AND start <= $2',
      values: [deploymentId, newest],
    });
    logger.warn('oldest usage of a deployment removed', { deploymentId, removed });
  }
}
