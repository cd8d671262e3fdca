import { toSqlJson } from '@runyard/database';
import type pg from 'pg';
import { queuePushes } from './queue-pushes.ts';
import { RUN_AT_ITS_END } from './run-at-its-end.ts';
import type { WebhookTarget } from './types.ts';

/**
 * Inserts the deliveries of runs' webhooks in the transaction that ends the runs. The content is copied, so that it can
 * be sent even if the run or its thread is deleted at once.
 */
const INSERT_DELIVERIES = `
  INSERT INTO webhook_delivery (run_id, thread_id, position, url, host, due_at, run, kwargs, result)
  SELECT r.run_id, r.thread_id, w.position, w.target ->> 'url', w.target ->> 'host', now(),
         ${RUN_AT_ITS_END},
         r.kwargs, r.result
  FROM run r CROSS JOIN LATERAL jsonb_array_elements(r.webhooks) WITH ORDINALITY AS w (target, position)`;
const UNREFUSED = `NOT w.target ? 'refusal' ON CONFLICT (run_id, position) DO NOTHING`;

/**
 * Queues the webhooks of runs that this transaction ends, and the push notifications of their tasks. Returns whether
 * there were any.
 */
export async function queueWebhooks(client: pg.ClientBase, runIds: string[]): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'engine_queue_webhooks',
    text: `${INSERT_DELIVERIES} WHERE r.run_id = ANY($1::uuid[]) AND r.webhooks IS NOT NULL AND ${UNREFUSED}`,
    values: [runIds],
  });
  return (await queuePushes(client, runIds)) || (rowCount ?? 0) > 0;
}

/**
 * Queues the webhooks of runs in flight on threads that are about to be deleted, and the push notifications of their
 * tasks: they end as `interrupted`. Those of ended runs are queued already. Returns whether there were any.
 */
export async function queueWebhooksOfDeleted(
  client: pg.ClientBase,
  { threadIds, runId }: { threadIds: string[]; runId?: string },
): Promise<boolean> {
  const { rows } = await client.query<{ run_id: string }>({
    name: 'engine_notifying_runs_of_deleted',
    text: `SELECT r.run_id FROM run r
           WHERE r.thread_id = ANY($1::uuid[]) AND CASE WHEN $2::uuid IS NULL THEN r.keeps_thread ELSE r.run_id = $2 END
             AND r.status IN ('pending', 'running') AND r.webhooks IS NOT NULL`,
    values: [threadIds, runId ?? null],
  });
  if (rows.length === 0) return false;
  return queueWebhooks(
    client,
    rows.map((row) => row.run_id),
  );
}

/**
 * Deletes what was sent, or could be sent again, of runs that are deleted; the log of their deliveries stays. What has
 * not ended is still sent.
 */
export async function deleteWebhookContent(client: pg.ClientBase, runIds: string[]): Promise<void> {
  await client.query({
    name: 'engine_delete_webhook_content',
    text: `UPDATE webhook_delivery SET run = NULL, kwargs = NULL, result = NULL, push_secrets = NULL
           WHERE run_id = ANY($1::uuid[]) AND ended_at IS NOT NULL AND run IS NOT NULL`,
    values: [runIds],
  });
}

/** Records refused receivers in the log when the run is created. */
export async function recordRefusedWebhooks(
  client: pg.ClientBase,
  runs: { runId: string; threadId: string; webhooks?: WebhookTarget[] }[],
): Promise<void> {
  const refused = runs.flatMap(({ runId, threadId, webhooks = [] }) =>
    webhooks.flatMap((target, index) => (target.refusal ? [{ runId, threadId, position: index + 1, target }] : [])),
  );
  if (refused.length === 0) return;
  await client.query({
    name: 'engine_record_refused_webhooks',
    text: `INSERT INTO webhook_delivery (run_id, thread_id, position, url, host, status, ended_at, log)
           SELECT run_id, thread_id, position, target ->> 'url', target ->> 'host', 'refused', now(),
                  jsonb_build_array(jsonb_build_object('started_at', now(), 'duration_ms', 0, 'status_code', NULL,
                                                       'error', target ->> 'refusal'))
           FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::jsonb[]) AS i (run_id, thread_id, position, target)`,
    values: [
      refused.map(({ runId }) => runId),
      refused.map(({ threadId }) => threadId),
      refused.map(({ position }) => position),
      refused.map(({ target }) => toSqlJson(target)),
    ],
  });
}

/**
 * Returns the receivers for a run's row; null when nobody must be notified. The run of a task always has a list: whoever
 * asks for push notifications may do so until the task has ended.
 */
export function webhooksColumn({
  webhooks,
  task,
}: {
  webhooks?: WebhookTarget[];
  task?: object | undefined;
}): string | null {
  const isNotifying = webhooks?.some(({ refusal }) => refusal === undefined) ?? false;
  if (isNotifying) return toSqlJson(webhooks);
  return task === undefined ? null : '[]';
}
