import { toUuid } from '@runyard/database';
import type pg from 'pg';
import { RUN_AT_ITS_END } from './run-at-its-end.ts';

/**
 * Positions of pushes begin here: those of webhooks are below. A task that was canceled while it waited has pushes of
 * the same run before: those of its question.
 */
const FIRST_POSITION = { ofEnded: 1_000, ofCanceled: 2_000 };

/**
 * Queues the push notifications of the tasks whose runs this transaction ends. The metadata of a run may be its
 * client's: only the thread of the task itself counts. Returns whether there were any.
 */
export async function queuePushes(
  client: pg.ClientBase,
  runIds: readonly string[],
  { isCanceled = false } = {},
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'engine_queue_pushes',
    text: `INSERT INTO webhook_delivery (run_id, thread_id, position, url, host, due_at, run, kwargs, result, push, push_secrets)
           SELECT r.run_id, r.thread_id,
                  $2::integer + row_number() OVER (PARTITION BY r.run_id ORDER BY c.created_at, c.config_id),
                  c.url, c.host, now(), ${RUN_AT_ITS_END}, r.kwargs, r.result,
                  jsonb_build_object('task_id', c.task_id, 'config_id', c.config_id, 'version', c.wire_version), c.secrets
           FROM run r JOIN a2a_push_config c
             ON c.thread_id = r.thread_id
            AND c.task_id = ${toUuid("r.metadata ->> 'task_id'")}
           WHERE r.run_id = ANY($1::uuid[]) ON CONFLICT (run_id, position) DO NOTHING`,
    values: [runIds, isCanceled ? FIRST_POSITION.ofCanceled : FIRST_POSITION.ofEnded],
  });
  return (rowCount ?? 0) > 0;
}
