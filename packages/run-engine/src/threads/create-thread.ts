import { containsAny, toSqlJson } from '@runyard/database';
import { ConflictError } from '@runyard/service-kit';
import type pg from 'pg';
import { encodeThread } from './encode-thread.ts';
import { insertedThreads, threadValues } from './inserted-threads.ts';
import { fencesOfNewThreads, removeLeftovers } from './leftovers.ts';
import { THREAD_COLUMNS, type ThreadRow, threadOfRow } from './thread-row.ts';
import type { CreatedThread, CreateThread, NewThread, ThreadRecord, ThreadTtl } from './types.ts';

/** Creates a thread in the caller's transaction. If it exists, returns it (`do_nothing`) or refuses (`raise`). */
export async function createThread(
  client: pg.ClientBase,
  thread: CreateThread,
  defaultTtl?: ThreadTtl,
): Promise<CreatedThread> {
  const { threadId } = thread;
  const { rows } = await client.query<ThreadRow & { was_used: boolean }>({
    name: 'engine_create_thread',
    text: `WITH ${insertedThreads()}, ${fencesOfNewThreads()} SELECT made.*, fences.was_used FROM made JOIN fences USING (thread_id)`,
    values: threadValues([encodeThread({ ...thread, status: 'idle' }, defaultTtl)]),
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
    text: `WITH ${insertedThreads()} SELECT * FROM made`,
    values: threadValues([encodeThread(thread, defaultTtl)]),
  });
  return rows[0] && threadOfRow(rows[0]);
}

export function threadExistsError(threadId: string): ConflictError {
  return new ConflictError(`Thread with ID ${threadId} already exists`, { code: 'thread_exists' });
}
