import { toSqlJson } from '@runyard/database';
import { ConflictError } from '@runyard/service-kit';
import type pg from 'pg';
import type { CreateThread, ThreadRecord, ThreadTtl } from '../types.ts';
import { THREAD_COLUMNS, type ThreadRow, threadOfRow } from './thread-row.ts';
import { expiryIn, ttlParameters } from './thread-ttl.ts';

/** Creates a thread in the caller's transaction, or answers the one that is there (`do_nothing`), or refuses (`raise`). */
export async function createThread(
  client: pg.ClientBase,
  thread: CreateThread,
  defaultTtl?: ThreadTtl,
): Promise<ThreadRecord> {
  const made = await client.query<ThreadRow>({
    name: 'engine_create_thread',
    text: `WITH made AS (
             INSERT INTO thread (thread_id, metadata, config, ttl_strategy, ttl_minutes, expires_at)
             VALUES ($1, $2, $3, $4, $5, ${expiryIn('$5::float8')})
             ON CONFLICT DO NOTHING RETURNING ${THREAD_COLUMNS}
           ), fence AS (
             INSERT INTO thread_fence (thread_id) SELECT thread_id FROM made ON CONFLICT DO NOTHING
           )
           SELECT * FROM made`,
    values: [
      thread.threadId,
      toSqlJson(thread.metadata),
      toSqlJson(thread.config ?? {}),
      ...ttlParameters(thread.ttl ?? defaultTtl),
    ],
  });
  if (made.rows[0]) return threadOfRow(made.rows[0]);
  const existing = await client.query<ThreadRow>({
    name: 'engine_share_thread',
    text: `SELECT ${THREAD_COLUMNS} FROM thread WHERE thread_id = $1 FOR SHARE`,
    values: [thread.threadId],
  });
  if (thread.ifExists === 'do_nothing' && existing.rows[0]) return threadOfRow(existing.rows[0]);
  throw new ConflictError(`Thread with ID ${thread.threadId} already exists`);
}
