import type { A2aTaskState } from '@runyard/contracts';

/** A task as its newest run has it. */
export interface TaskRecord {
  /** The id of its first run. */
  taskId: string;
  /** Its thread. */
  contextId: string;
  /** Its newest run. */
  runId: string;
  state: A2aTaskState;
  /** Time of the last change of its state, as A2A writes times. */
  statusAt: string;
  /** The error of the newest run. */
  error: { error: string; message: string } | null;
  /** True when no later run of the thread exists: the thread's state is that of the task. */
  isNewest: boolean;
}

/** Returns whether nothing will happen to the task any more. */
export function isTerminal({ state }: Pick<TaskRecord, 'state'>): boolean {
  return state === 'TASK_STATE_COMPLETED' || state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_CANCELED';
}

/** Returns whether a run of the task waits or works. */
export function isInFlight({ state }: Pick<TaskRecord, 'state'>): boolean {
  return state === 'TASK_STATE_SUBMITTED' || state === 'TASK_STATE_WORKING';
}
