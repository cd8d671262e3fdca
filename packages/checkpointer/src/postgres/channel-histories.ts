import { toSqlText } from '@runyard/database';
import type pg from 'pg';
import type { ChannelHistory, CheckpointKey } from '../backend.ts';

/**
 * Follows the parents of a checkpoint. `wanted` are the channels without a value at any nearer ancestor: an ancestor's
 * writes to them are collected, and its value, if it has one, ends the search for that channel.
 */
const CHANNEL_HISTORIES = {
  name: 'checkpoint_channel_histories',
  text: `
  WITH RECURSIVE ancestor AS (
    SELECT c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id, c.channel_blobs, 1 AS depth,
           $4::text[] AS wanted
    FROM checkpoint t
    JOIN checkpoint c ON c.thread_id = t.thread_id AND c.checkpoint_ns = t.checkpoint_ns
                     AND c.checkpoint_id = t.parent_checkpoint_id
    WHERE t.thread_id = $1 AND t.checkpoint_ns = $2 AND t.checkpoint_id = $3
    UNION ALL
    SELECT c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id, c.channel_blobs, a.depth + 1, still.wanted
    FROM ancestor a
    CROSS JOIN LATERAL (
      SELECT array_agg(channel) AS wanted FROM unnest(a.wanted) AS channel WHERE NOT a.channel_blobs ? channel
    ) still
    JOIN checkpoint c ON c.thread_id = a.thread_id AND c.checkpoint_ns = a.checkpoint_ns
                     AND c.checkpoint_id = a.parent_checkpoint_id
    WHERE still.wanted IS NOT NULL
  )
  SELECT w.channel, w.type, w.data, w.task_id, w.idx, a.depth
  FROM ancestor a
  JOIN checkpoint_write w USING (thread_id, checkpoint_ns, checkpoint_id)
  WHERE w.channel = ANY(a.wanted)
  UNION ALL
  SELECT b.channel, b.type, b.data, NULL, NULL, a.depth
  FROM ancestor a
  CROSS JOIN LATERAL unnest(a.wanted) AS named(channel)
  JOIN checkpoint_blob b ON b.thread_id = a.thread_id AND b.checkpoint_ns = a.checkpoint_ns AND b.channel = named.channel
                        AND b.version = a.channel_blobs -> named.channel ->> 0
                        AND b.checkpoint_id = a.channel_blobs -> named.channel ->> 1
  ORDER BY depth DESC, task_id, idx`,
};

interface Row {
  channel: string;
  type: string;
  data: Buffer;
  /** The task of a write; null for a value. */
  task_id: string | null;
}

/** Returns the histories of channels at the ancestors of a checkpoint in one round trip, one entry per channel. */
export async function readChannelHistories(
  pool: pg.Pool,
  { threadId, namespace, checkpointId }: CheckpointKey,
  channels: string[],
): Promise<ChannelHistory[]> {
  const { rows } = await pool.query<Row>({
    ...CHANNEL_HISTORIES,
    values: [threadId, toSqlText(namespace), toSqlText(checkpointId), channels.map(toSqlText)],
  });
  return channels.map((channel) => {
    const own = rows.filter((row) => row.channel === toSqlText(channel));
    const seed = own.find(({ task_id }) => task_id === null);
    return {
      channel,
      ...(seed && { seed: { type: seed.type, data: seed.data } }),
      writes: own.flatMap(({ task_id, type, data }) =>
        task_id === null ? [] : [{ taskId: task_id, channel, value: { type, data } }],
      ),
    };
  });
}
