import type pg from 'pg';
import type { Fields } from '../http/fields.ts';

/** A thing whose row names the thread or the assistant of a request, where the request itself does not. */
export type Subject = keyof typeof QUERIES;

/** Finds out which thread and which assistant a request is about, whoever may see them. */
export interface Subjects {
  /** Returns the ids `thread_id` and `assistant_id` as far as there are any; none of what does not exist. */
  find(subject: Subject, params: Fields): Promise<Fields>;
}

const QUERIES = {
  /** The run of `/runs/{run_id}`. */
  run: { param: 'run_id', text: 'SELECT thread_id, assistant_id FROM run WHERE run_id = $1' },
  cron: { param: 'cron_id', text: 'SELECT thread_id, assistant_id FROM cron WHERE cron_id = $1' },
  /** The assistant that a thread was last run with. */
  thread: {
    param: 'thread_id',
    text: `SELECT thread_id, coalesce(
             (SELECT assistant_id::text FROM run r WHERE r.thread_id = t.thread_id AND r.keeps_thread ORDER BY seq DESC LIMIT 1),
             metadata ->> 'assistant_id') AS assistant_id
           FROM thread t WHERE thread_id = $1`,
  },
} as const;

export function openSubjects(pool: () => pg.Pool): Subjects {
  return {
    async find(subject, params) {
      const { param, text } = QUERIES[subject];
      const { rows } = await pool().query<Fields>({
        name: `agent_api_subject_${subject}`,
        text,
        values: [params[param]],
      });
      return Object.fromEntries(Object.entries(rows[0] ?? {}).filter(([, id]) => id !== null));
    },
  };
}
