import { toSqlJson } from '@runyard/database';
import type pg from 'pg';
import type { StatisticChanges } from './statistic-changes.ts';

/** Adds changes to the numbers. The caller's transaction excludes all others that write them. */
export async function writeStatistics(client: pg.ClientBase, changes: StatisticChanges): Promise<void> {
  const { counts, latencies } = changes;
  if (counts.length > 0) {
    await client.query({
      name: 'history_add_counts',
      text: `INSERT INTO run_statistic AS s
               (deployment_id, step, start, graph_id, created, success, error, timeout, interrupted, retried)
             SELECT deployment_id, step, start, graph_id, created, success, error, timeout, interrupted, retried
             FROM jsonb_to_recordset($1::jsonb) AS r (deployment_id uuid, step text, start timestamptz, graph_id text,
               created integer, success integer, error integer, timeout integer, interrupted integer, retried integer)
             ON CONFLICT (deployment_id, step, start, graph_id) DO UPDATE
             SET created = s.created + excluded.created, success = s.success + excluded.success,
                 error = s.error + excluded.error, timeout = s.timeout + excluded.timeout,
                 interrupted = s.interrupted + excluded.interrupted, retried = s.retried + excluded.retried`,
      values: [toSqlJson(counts)],
    });
  }
  if (latencies.length > 0) {
    await client.query({
      name: 'history_add_latencies',
      text: `INSERT INTO run_latency AS l (deployment_id, step, start, graph_id, measure, bucket, runs)
             SELECT deployment_id, step, start, graph_id, measure, bucket, runs
             FROM jsonb_to_recordset($1::jsonb) AS r
               (deployment_id uuid, step text, start timestamptz, graph_id text, measure text, bucket smallint, runs integer)
             ON CONFLICT (deployment_id, step, start, graph_id, measure, bucket) DO UPDATE
             SET runs = l.runs + excluded.runs`,
      values: [toSqlJson(latencies)],
    });
  }
}
