import type pg from 'pg';
import { RUN_AT_ITS_END } from './run-at-its-end.ts';

/** Positions of pushes begin here: those of webhooks are below. */
const FIRST_POSITION = 1_000;
const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/**
 * Queues the push notifications of the tasks whose runs this transaction ends. The metadata of a run may be its
 * client's: only the thread of the task itself counts.
 */
export async function queuePushes(client: pg.ClientBase, runIds: string[]): Promise<void> {
  await client.query({
    name: 'engine_queue_pushes',
    text: `INSERT INTO webhook_delivery (run_id, thread_id, position, url, host, due_at, run, kwargs, result, push, push_secrets)
           SELECT r.run_id, r.thread_id,
                  ${FIRST_POSITION} + row_number() OVER (PARTITION BY r.run_id ORDER BY c.created_at, c.config_id),
                  c.url, c.host, now(), ${RUN_AT_ITS_END}, r.kwargs, r.result,
                  jsonb_build_object('task_id', c.task_id, 'config_id', c.config_id, 'version', c.wire_version), c.secrets
           FROM run r JOIN a2a_push_config c
             ON c.thread_id = r.thread_id
            AND c.task_id = CASE WHEN r.metadata ->> 'task_id' ~ '${UUID}' THEN (r.metadata ->> 'task_id')::uuid END
           WHERE r.run_id = ANY($1::uuid[]) ON CONFLICT (run_id, position) DO NOTHING`,
    values: [runIds],
  });
}
