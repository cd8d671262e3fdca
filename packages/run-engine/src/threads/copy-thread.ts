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

/** A copy stands where its source does, but for the runs, which stay with the source. */
const STATUS_OF_COPY = `CASE WHEN status <> 'busy' THEN status
  WHEN EXISTS (SELECT 1 FROM thread_state s WHERE s.thread_id = $1 AND s.interrupts IS NOT NULL) THEN 'interrupted'
  ELSE 'idle' END`;

/**
 * The tasks whose interrupts a run in flight has begun to answer at a checkpoint that it has not passed. Its answer is
 * no part of the history yet: the copy would take it without asking, and nobody could roll it back there.
 */
const ANSWERING = `
  SELECT DISTINCT w.checkpoint_ns, w.checkpoint_id, w.task_id, w.run_id
  FROM run r JOIN checkpoint_write w ON w.thread_id = r.thread_id AND w.run_id = r.run_id
  WHERE r.thread_id = $1 AND r.status IN ('pending', 'running') AND r.attempt > 0 AND w.channel = '__resume__'
    AND NOT EXISTS (SELECT 1 FROM checkpoint c WHERE c.thread_id = $1 AND c.checkpoint_ns = w.checkpoint_ns
                      AND c.checkpoint_id > w.checkpoint_id AND c.run_id = w.run_id)`;
const IS_ANSWERED_BY_WRITER = `(checkpoint_ns, checkpoint_id, task_id, run_id) IN (SELECT * FROM answering)`;

/**
 * Copies a thread with its whole history inside Postgres; undefined when the source does not exist. It is one
 * statement, so it sees one moment of the source: of a busy one the last committed checkpoint, with everything before
 * it, and the questions that it has not got past as they were before it answered. Runs stay with the source.
 */
export async function copyThread(
  client: pg.ClientBase,
  copy: CopyThread,
  defaultTtl?: ThreadTtl,
): Promise<CopiedThread | undefined> {
  const { rows } = await client.query<{ is_behind: boolean; is_of_busy: boolean }>({
    name: 'engine_copy_thread',
    text: `WITH made AS (
             INSERT INTO thread (thread_id, metadata, config, ttl_strategy, ttl_minutes, expires_at, status, error)
             SELECT $2, metadata || $3::jsonb, config, coalesce(ttl_strategy, $4), coalesce(ttl_minutes, $5),
                    ${expiryIn('coalesce(ttl_minutes, $5::float8)')}, ${STATUS_OF_COPY},
                    CASE WHEN status <> 'busy' THEN error END
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
           ), answering AS MATERIALIZED (${ANSWERING}
           ), writes AS (
             INSERT INTO checkpoint_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, task_path, channel, type,
                                           data)
             SELECT m.thread_id, checkpoint_ns, checkpoint_id, task_id, idx, task_path, channel, type, data
             FROM made m, checkpoint_write w WHERE w.thread_id = $1 AND (${IS_ANSWERED_BY_WRITER}) IS NOT TRUE
             UNION ALL
             SELECT m.thread_id, checkpoint_ns, checkpoint_id, task_id, idx, task_path, channel, type, data
             FROM made m, checkpoint_write_replaced w WHERE w.thread_id = $1 AND ${IS_ANSWERED_BY_WRITER}
           ), behind AS (
             INSERT INTO thread_state_behind (thread_id, look_at) SELECT thread_id, now() + ${STATE_WRITE_TIME} FROM made
             WHERE ${IS_BEHIND}
           )
           SELECT ${IS_BEHIND} AS is_behind, (SELECT status = 'busy' FROM thread WHERE thread_id = $1) AS is_of_busy FROM made`,
    values: [copy.sourceId, copy.threadId, toSqlJson(copy.metadata), ...ttlParameters(defaultTtl)],
  });
  const [made] = rows;
  return made && { isStateOutdated: made.is_behind, isOfBusy: made.is_of_busy };
}
