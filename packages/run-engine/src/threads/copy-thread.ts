import { toSqlJson } from '@runyard/database';
import type pg from 'pg';
import { STATE_WRITE_TIME } from './outdated-states.ts';
import { expiryIn, ttlParameters } from './thread-ttl.ts';
import type { CopiedThread, CopyThread, ThreadTtl } from './types.ts';

/**
 * Replaces the thread's id in copied metadata bytes, which are JSON of the project's serializer. Encrypted bytes stay
 * unchanged: a state shows the id of its checkpoint.
 */
const METADATA_OF_COPY = `CASE WHEN metadata_type = 'json' AND substring(metadata_data FOR 1) = '\\x7b'::bytea
  THEN convert_to(replace(convert_from(metadata_data, 'UTF8'), '"thread_id":"' || $1::uuid || '"',
                          '"thread_id":"' || $2::uuid || '"'), 'UTF8')
  ELSE metadata_data END`;

/** True when the source's stored values are older than its newest checkpoint. */
const IS_BEHIND = `(SELECT max(checkpoint_id) FROM checkpoint WHERE thread_id = $1 AND checkpoint_ns = '')
  IS DISTINCT FROM (SELECT checkpoint_id FROM thread_state WHERE thread_id = $1)`;

/**
 * Copies a thread with its whole history inside Postgres; undefined when the source does not exist. It is one
 * statement, so it sees one moment of the source: of a busy one the last committed checkpoint, with everything before
 * it. Runs stay with the source.
 */
export async function copyThread(
  client: pg.ClientBase,
  copy: CopyThread,
  defaultTtl?: ThreadTtl,
): Promise<CopiedThread | undefined> {
  const { rows } = await client.query<{ is_behind: boolean }>({
    name: 'engine_copy_thread',
    text: `WITH made AS (
             INSERT INTO thread (thread_id, metadata, config, ttl_strategy, ttl_minutes, expires_at)
             SELECT $2, metadata || $3::jsonb, config, coalesce(ttl_strategy, $4), coalesce(ttl_minutes, $5),
                    ${expiryIn('coalesce(ttl_minutes, $5::float8)')}
             FROM thread WHERE thread_id = $1
             RETURNING thread_id
           ), fence AS (
             INSERT INTO thread_fence (thread_id) SELECT thread_id FROM made
           ), state AS (
             INSERT INTO thread_state (thread_id, checkpoint_id, "values", interrupts)
             SELECT m.thread_id, s.checkpoint_id, s."values", s.interrupts FROM made m, thread_state s WHERE s.thread_id = $1
           ), checkpoints AS (
             INSERT INTO checkpoint (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, data_type, data, metadata,
                                     metadata_type, metadata_data, channel_blobs, created_at)
             SELECT m.thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, data_type, data,
                    jsonb_set(metadata, '{thread_id}', to_jsonb($2::uuid::text), false), metadata_type,
                    ${METADATA_OF_COPY}, channel_blobs, created_at
             FROM made m, checkpoint c WHERE c.thread_id = $1
           ), blobs AS (
             INSERT INTO checkpoint_blob (thread_id, checkpoint_ns, channel, version, checkpoint_id, type, data)
             SELECT m.thread_id, checkpoint_ns, channel, version, checkpoint_id, type, data
             FROM made m, checkpoint_blob b WHERE b.thread_id = $1
           ), writes AS (
             INSERT INTO checkpoint_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, task_path, channel, type,
                                           data)
             SELECT m.thread_id, checkpoint_ns, checkpoint_id, task_id, idx, task_path, channel, type, data
             FROM made m, checkpoint_write w WHERE w.thread_id = $1
           ), behind AS (
             INSERT INTO thread_state_behind (thread_id, look_at) SELECT thread_id, now() + ${STATE_WRITE_TIME} FROM made
             WHERE ${IS_BEHIND}
           )
           SELECT ${IS_BEHIND} AS is_behind FROM made`,
    values: [copy.sourceId, copy.threadId, toSqlJson(copy.metadata), ...ttlParameters(defaultTtl)],
  });
  return rows[0] && { isStateOutdated: rows[0].is_behind };
}
