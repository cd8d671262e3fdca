import type { ToolTask } from '../../a2a/tasks/task-store.ts';

/** Milliseconds after which clients ask again. */
const POLL_MS = 1_000;

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** Returns the status of a task. A failed run is a result in the new revision, and a failure in old ones. */
export function statusOf({ state }: Pick<ToolTask, 'state'>, { isNew }: { isNew: boolean }): TaskStatus {
  switch (state) {
    case 'TASK_STATE_SUBMITTED':
    case 'TASK_STATE_WORKING':
      return 'working';
    case 'TASK_STATE_INPUT_REQUIRED':
    case 'TASK_STATE_AUTH_REQUIRED':
      return 'input_required';
    case 'TASK_STATE_CANCELED':
      return 'cancelled';
    case 'TASK_STATE_REJECTED':
    case 'TASK_STATE_FAILED':
      return isNew ? 'completed' : 'failed';
    default:
      return 'completed';
  }
}

/** The fields of a task that its forms have. */
type Shown = Pick<ToolTask, 'taskId' | 'createdAt' | 'statusAt' | 'ttlMs'>;

export function toNewTask(task: Shown, status: TaskStatus) {
  const { taskId, createdAt, statusAt: lastUpdatedAt, ttlMs } = task;
  return { taskId, status, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs: POLL_MS };
}

export function toOldTask(task: Shown, status: TaskStatus) {
  const { taskId, createdAt, statusAt: lastUpdatedAt, ttlMs: ttl } = task;
  return { taskId, status, createdAt, lastUpdatedAt, ttl, pollInterval: POLL_MS };
}
