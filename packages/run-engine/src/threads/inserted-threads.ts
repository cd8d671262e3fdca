import type { EncodedThread } from './encode-thread.ts';
import { THREAD_COLUMNS } from './thread-row.ts';
import { expiryIn } from './thread-ttl.ts';

/**
 * Returns the part `made` of a statement that inserts those threads whose ids no thread has, and for which the condition
 * on `i` holds. Its parameters are the first ones of the statement.
 */
export const insertedThreads = (condition = 'true') => `
  made AS (
    INSERT INTO thread (thread_id, metadata, config, ttl_strategy, ttl_minutes, expires_at, status)
    SELECT i.thread_id, i.metadata, i.config, i.strategy, i.minutes, ${expiryIn('i.minutes')}, i.status
    FROM unnest($1::uuid[], $2::jsonb[], $3::jsonb[], $4::text[], $5::float8[], $6::text[])
      AS i (thread_id, metadata, config, strategy, minutes, status)
    WHERE ${condition}
    ORDER BY i.thread_id
    ON CONFLICT DO NOTHING RETURNING ${THREAD_COLUMNS}
  )`;

/** Returns the parameters of {@link insertedThreads}. */
export function threadValues(threads: EncodedThread[]): unknown[][] {
  return [
    threads.map(({ threadId }) => threadId),
    threads.map(({ metadata }) => metadata),
    threads.map(({ config }) => config),
    threads.map(({ ttl: [strategy] }) => strategy),
    threads.map(({ ttl: [, minutes] }) => minutes),
    threads.map(({ status }) => status),
  ];
}
