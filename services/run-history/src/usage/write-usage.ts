import { toSqlJson } from '@runyard/database';
import type pg from 'pg';
import { type StoredUsage, USED, type UsageChanges } from './usage-changes.ts';

/** Returns what the journal knows of the usage of attempts. */
export async function readUsage(
  client: pg.ClientBase,
  attempts: readonly { run_id: string; attempt: number }[],
): Promise<StoredUsage[]> {
  if (attempts.length === 0) return [];
  const { rows } = await client.query<StoredUsage>({
    name: 'history_read_usage',
    text: `SELECT run_id, attempt, models, tools FROM run_usage
           WHERE (run_id, attempt) IN (SELECT * FROM unnest($1::uuid[], $2::integer[]))`,
    values: [attempts.map(({ run_id }) => run_id), attempts.map(({ attempt }) => attempt)],
  });
  return rows;
}

/** Writes what has changed. The caller's transaction excludes all others that write it. */
export async function writeUsage(client: pg.ClientBase, { attempts, rows }: UsageChanges): Promise<void> {
  if (attempts.length > 0) {
    await client.query({
      name: 'history_write_usage',
      text: `INSERT INTO run_usage (run_id, attempt, models, tools)
             SELECT run_id, attempt, models, tools
             FROM jsonb_to_recordset($1::jsonb) AS r (run_id uuid, attempt integer, models jsonb, tools jsonb)
             ON CONFLICT (run_id, attempt) DO UPDATE SET models = excluded.models, tools = excluded.tools`,
      values: [toSqlJson(attempts)],
    });
  }
  if (rows.length === 0) return;
  const key = 'deployment_id, step, start, assistant_id, creator_kind, creator, key_id, provider, model';
  await client.query({
    name: 'history_add_usage',
    text: `INSERT INTO usage AS u (${key}, ${USED.join(', ')})
           SELECT ${key}, ${USED.join(', ')}
           FROM jsonb_to_recordset($1::jsonb) AS r (deployment_id uuid, step text, start timestamptz, assistant_id uuid,
             creator_kind text, creator text, key_id text, provider text, model text,
             ${USED.map((each) => `${each} bigint`).join(', ')})
           ON CONFLICT (${key}) DO UPDATE SET ${USED.map((each) => `${each} = u.${each} + excluded.${each}`).join(', ')}`,
    values: [toSqlJson(rows)],
  });
}
