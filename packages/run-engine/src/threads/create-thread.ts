import { containsAny, toSqlJson } from '@runyard/database';
import { ConflictError } from '@runyard/service-kit';
import type pg from 'pg';
import { encodeThread } from './encode-thread.ts';
import { fencesOfNewThreads, removeLeftovers } from './leftovers.ts';
import { THREAD_COLUMNS, type ThreadRow, threadOfRow } from './thread-row.ts';
import { expiryIn } from './thread-ttl.ts';
import type { CreatedThread, CreateThread, NewThread, ThreadRecord, ThreadTtl } from './types.ts';

const INSERTED_THREAD = `
  made AS (
    INSERT INTO thread (thread_id, metadata, config, ttl_strategy, ttl_minutes, expires_at, status)
    VALUES ($1, $2, $3, $4, $5, ${expiryIn('$5::float8')}, $6)
    ON CONFLICT DO NOTHING RETURNING ${THREAD_COLUMNS}
  )`;

/** Creates a thread in the caller's transaction. If it exists, returns it (`do_nothing`) or refuses (`raise`). */
export async function createThread(
  client: pg.ClientBase,
  thread: CreateThread,
  defaultTtl?: ThreadTtl,
): Promise<CreatedThread> {
  const { threadId } = thread;
  const { rows } = await client.query<ThreadRow & { was_used: boolean }>({
    name: 'engine_create_thread',
    text: `WITH ${INSERTED_THREAD}, ${fencesOfNewThreads()} SELECT made.*, fences.was_used FROM made JOIN fences USING (thread_id)`,
    values: columnsOf({ ...thread, status: 'idle' }, defaultTtl),
  });
  const [made] = rows;
  if (made) {
    if (made.was_used) await removeLeftovers(client, [threadId]);
    return { ...threadOfRow(made), isNew: true };
  }
  const existing = await client.query<ThreadRow>({
    name: 'engine_share_thread',
    text: `SELECT ${THREAD_COLUMNS} FROM thread
           WHERE thread_id = $1 AND ($2::jsonb IS NULL OR ${containsAny('metadata', '$2::jsonb')}) FOR SHARE`,
    values: [threadId, thread.existingScope ? toSqlJson(thread.existingScope) : null],
  });
  if (thread.ifExists === 'do_nothing' && existing.rows[0]) return { ...threadOfRow(existing.rows[0]), isNew: false };
  throw threadExistsError(threadId);
}

/** Creates a thread for an existing fence; undefined when there is a thread already. */
export async function insertThread(
  client: pg.ClientBase,
  thread: NewThread & Pick<ThreadRecord, 'threadId' | 'status'>,
  defaultTtl?: ThreadTtl,
): Promise<ThreadRecord | undefined> {
  const { rows } = await client.query<ThreadRow>({
    name: 'engine_insert_thread',
    text: `WITH ${INSERTED_THREAD} SELECT * FROM made`,
    values: columnsOf(thread, defaultTtl),
  });
  return rows[0] && threadOfRow(rows[0]);
}

export function threadExistsError(threadId: string): ConflictError {
  return new ConflictError(`Thread with ID ${threadId} already exists`, { code: 'thread_exists' });
}

function columnsOf(
  thread: NewThread & Pick<ThreadRecord, 'threadId' | 'status'>,
  defaultTtl: ThreadTtl | undefined,
): unknown[] {
  const { threadId, metadata, config, ttl } = encodeThread(thread, defaultTtl);
  return [threadId, metadata, config, ...ttl, thread.status];
}
