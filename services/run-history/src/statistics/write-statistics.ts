import { toSqlJson } from '@runyard/database';
import type pg from 'pg';
import { COUNTED, type StatisticChanges } from './statistic-changes.ts';

/** Adds changes to the numbers. The caller's transaction excludes all others that write them. */
export async function writeStatistics(client: pg.ClientBase, changes: StatisticChanges): Promise<void> {
  const { counts, latencies } = changes;
  if (counts.length > 0) {
    await client.query({
      name: 'history_add_counts',
      text: `INSERT INTO run_statistic AS s (deployment_id, step, start, graph_id, ${COUNTED.join(', ')})
             SELECT deployment_id, step, start, graph_id, ${COUNTED.join(', ')}
             FROM jsonb_to_recordset($1::jsonb) AS r (deployment_id uuid, step text, start timestamptz, graph_id text,
               ${COUNTED.map((each) => `${each} bigint`).join(', ')})
             ON CONFLICT (deployment_id, step, start, graph_id) DO UPDATE
             SET ${COUNTED.map((each) => `${each} = s.${each} + excluded.${each}`).join(', ')}`,
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
