import type pg from 'pg';
import type { StoredPushConfig } from './stored-push-config.ts';

/** Stores configurations in the transaction that creates the runs that name them. */
export async function insertPushConfigs(
  client: pg.ClientBase,
  runs: { storedPushConfigs: StoredPushConfig[] }[],
): Promise<void> {
  await storePushConfigs(
    client,
    runs.flatMap(({ storedPushConfigs }) => storedPushConfigs),
  );
}

/** Receivers of one task at most: each end of it is sent to all. */
export const PUSH_CONFIGS_MAX = 20;

/**
 * Stores configurations; one with a known id is replaced, and one that is too many for its task is left out. Returns
 * their number. It must be called under the lock of their threads.
 */
export async function storePushConfigs(client: Pick<pg.Pool, 'query'>, configs: StoredPushConfig[]): Promise<number> {
  if (configs.length === 0) return 0;
  const { rowCount } = await client.query({
    name: 'engine_store_push_configs',
    text: `INSERT INTO a2a_push_config (task_id, config_id, thread_id, url, host, secrets, wire_version)
           SELECT * FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::bytea[], $7::text[])
             AS c (task_id, config_id)
           WHERE (SELECT count(*) FROM a2a_push_config k WHERE k.task_id = c.task_id AND k.config_id <> c.config_id)
                 < ${PUSH_CONFIGS_MAX}
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
  return rowCount ?? 0;
}
