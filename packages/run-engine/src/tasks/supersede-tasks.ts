import type pg from 'pg';
import type { RunEvents } from '../run-events.ts';
import { TASK_CANCELED } from './cancel-waiting-task.ts';

/** The value under `TASK_CANCELED` of a task whose thread went on without an answer to its question. */
export const SUPERSEDED = 'superseded';

/** A task that waits for input, with its newest run. */
export interface WaitingTask {
  taskId: string;
  runId: string;
  assistantId: string;
}

/** Returns the tasks that wait for input on threads, by thread. The threads are locked. */
export async function findWaitingTasks(
  client: pg.ClientBase,
  threadIds: readonly string[],
): Promise<Map<string, WaitingTask>> {
  if (threadIds.length === 0) return new Map();
  const { rows } = await client.query<WaitingTask & { threadId: string }>({
    name: 'engine_find_waiting_tasks',
    text: `SELECT t.thread_id AS "threadId", n.run_id AS "runId", n.assistant_id AS "assistantId",
                  n.metadata ->> 'task_id' AS "taskId"
           FROM thread t CROSS JOIN LATERAL (
             SELECT r.run_id, r.assistant_id, r.status, r.metadata FROM run r
             WHERE r.thread_id = t.thread_id ORDER BY r.seq DESC LIMIT 1
           ) n
           WHERE t.thread_id = ANY($1::uuid[]) AND t.status = 'interrupted' AND n.status = 'success'
             AND n.metadata ? 'task_id' AND NOT n.metadata ? '${TASK_CANCELED}'`,
    values: [threadIds],
  });
  return new Map(rows.map(({ threadId, ...task }) => [threadId, task]));
}

/** Ends waiting tasks, by their newest runs, whose question is taken away in the caller's transaction. */
export async function supersedeTasks(
  client: pg.ClientBase,
  runIds: readonly string[],
  events: RunEvents,
): Promise<void> {
  if (runIds.length === 0) return;
  await client.query({
    name: 'engine_supersede_tasks',
    text: `UPDATE run SET metadata = metadata || '{"${TASK_CANCELED}": "${SUPERSEDED}"}', updated_at = now()
           WHERE run_id = ANY($1::uuid[])`,
    values: [runIds],
  });
  await events.queuePushesOfCanceled(client, runIds);
}
