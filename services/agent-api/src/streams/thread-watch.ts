import type pg from 'pg';
import { RunWatch } from './run-watch.ts';

/** Creates the watch that calls those who follow threads when their thread is deleted. */
export function createThreadWatch(pool: pg.Pool, onError: (error: unknown) => void): RunWatch {
  return new RunWatch({
    findInFlight: async (threadIds) => {
      const { rows } = await pool.query<{ threadId: string }>({
        text: 'SELECT thread_id AS "threadId" FROM thread WHERE thread_id = ANY($1::uuid[])',
        values: [threadIds],
      });
      return new Set(rows.map(({ threadId }) => threadId));
    },
    onError,
  });
}
