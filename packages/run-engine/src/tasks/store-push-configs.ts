import type pg from 'pg';
import type { StoredPushConfig } from './stored-push-config.ts';

/** Receivers of one task at most: each end of it is sent to all. */
export const PUSH_CONFIGS_MAX = 20;

type Client = Pick<pg.ClientBase, 'query'>;

/**
 * Returns the ids of tasks that have as many other configurations as there may be. It must be called under the lock of
 * their threads.
 */
export async function findFullTasks(client: Client, configs: StoredPushConfig[]): Promise<Set<string>> {
  if (configs.length === 0) return new Set();
  const { rows } = await client.query<{ task_id: string }>({
    name: 'engine_full_tasks',
    text: `SELECT c.task_id FROM unnest($1::uuid[], $2::text[]) AS c (task_id, config_id)
           WHERE (SELECT count(*) FROM a2a_push_config k WHERE k.task_id = c.task_id AND k.config_id <> c.config_id) >= $3`,
    values: [configs.map(({ taskId }) => taskId), configs.map(({ configId }) => configId), PUSH_CONFIGS_MAX],
  });
  return new Set(rows.map((row) => row.task_id));
}

/** Stores configurations; one with a known id is replaced. Their tasks have room for them. */
export async function storePushConfigs(client: Client, configs: StoredPushConfig[]): Promise<void> {
  if (configs.length === 0) return;
  await client.query({
    name: 'engine_store_push_configs',
    text: `INSERT INTO a2a_push_config (task_id, config_id, thread_id, url, host, secrets, wire_version)
           SELECT * FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::bytea[], $7::text[])
           ON CONFLICT (task_id, config_id) DO UPDATE
           SET url = excluded.url, host = excluded.host, secrets = excluded.secrets, wire_version = excluded.wire_version`,
    values: [
      configs.map(({ taskId }) => taskId),
      configs.map(({ configId }) => configId),
      configs.map(({ threadId }) => threadId),
      configs.map(({ url }) => url),
      configs.map(({ host }) => host),
      configs.map(({ secrets }) => secrets),
      configs.map(({ version }) => version),
    ],
  });
}
