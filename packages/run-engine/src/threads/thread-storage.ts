import type pg from 'pg';
import type { ThreadStorage } from './types.ts';

/** Writes of the platform among those of tasks; they do not count. */
const OWN_WRITES = "channel NOT LIKE '\\_\\_runyard\\_%'";

/** Undefined when there is no such thread. Sizes come from the rows' headers: no value is fetched. */
export async function measureThreadStorage(db: pg.Pool, threadId: string): Promise<ThreadStorage | undefined> {
  const { rows } = await db.query({
    name: 'engine_thread_storage',
    text: `SELECT
             (SELECT row_to_json(c) FROM (
                SELECT count(*) AS count, coalesce(sum(octet_length(data) + octet_length(metadata_data)), 0) AS bytes
                FROM checkpoint WHERE thread_id = $1) c) AS checkpoints,
             (SELECT coalesce(json_object_agg(channel, json_build_object('versions', versions, 'bytes', bytes)), '{}') FROM (
                SELECT channel, count(*) AS versions, coalesce(sum(octet_length(data)), 0) AS bytes
                FROM checkpoint_blob WHERE thread_id = $1 GROUP BY channel ORDER BY channel) b) AS by_channel,
             (SELECT row_to_json(w) FROM (
                SELECT count(*) AS count, coalesce(sum(octet_length(data)), 0) AS bytes
                FROM checkpoint_write WHERE thread_id = $1 AND ${OWN_WRITES}) w) AS writes
           FROM thread WHERE thread_id = $1`,
    values: [threadId],
  });
  const row = rows[0];
  if (!row) return undefined;
  const byChannel: ThreadStorage['channelValues']['byChannel'] = row.by_channel;
  const channels = Object.values(byChannel);
  return {
    checkpoints: row.checkpoints,
    channelValues: {
      count: channels.reduce((sum, { versions }) => sum + versions, 0),
      bytes: channels.reduce((sum, { bytes }) => sum + bytes, 0),
      byChannel,
    },
    pendingWrites: row.writes,
  };
}
