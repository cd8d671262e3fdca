import type pg from 'pg';
import type { RunEvents } from '../run-events.ts';
import { findWaitingTasks, supersedeTasks, type WaitingTask } from '../tasks/supersede-tasks.ts';
import type { EncodedRun } from './encode-run.ts';

/**
 * Decides what runs do to the tasks that wait on their threads, by whichever protocol they come: the answer to a
 * question continues its task, anything else takes the question away and ends it. Returns the runs in their order.
 *
 * @param waiting the threads of which the status is `interrupted`
 */
export async function continueTasks(
  client: pg.ClientBase,
  items: EncodedRun[],
  waiting: ReadonlySet<string>,
  events: RunEvents,
): Promise<EncodedRun[]> {
  const tasks = await findWaitingTasks(
    client,
    items.map(({ threadId }) => threadId).filter((threadId) => waiting.has(threadId)),
  );
  const superseded: string[] = [];
  const continued = items.map((item) => {
    const task = tasks.get(item.threadId);
    if (task === undefined || item.task?.taskId === task.taskId) return item;
    if (item.task === undefined && answers(item, task)) return asRunOf(task, item);
    superseded.push(task.runId);
    return item;
  });
  await supersedeTasks(client, superseded, events);
  return continued;
}

function answers({ kwargs, assistantId }: EncodedRun, task: WaitingTask): boolean {
  const { command } = kwargs as { command?: { resume?: unknown } | null };
  return assistantId === task.assistantId && command?.resume !== undefined;
}

function asRunOf({ taskId }: WaitingTask, item: EncodedRun): EncodedRun {
  // The platform's own keys are stored in the clear.
  const ofTask = { task_id: taskId };
  return {
    ...item,
    task: { taskId, pushConfigs: [] },
    metadata: { ...item.metadata, ...ofTask },
    storedMetadata: { ...item.storedMetadata, ...ofTask },
  };
}
