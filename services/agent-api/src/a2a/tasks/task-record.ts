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
  /** True when its thread went on without an answer to its question, which ended it. */
  isSuperseded: boolean;
}

const TERMINAL: ReadonlySet<A2aTaskState> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);
/** The states in which a task waits for a message. */
export const WAITING: readonly A2aTaskState[] = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'];

/** Returns whether nothing will happen to the task any more. */
export function isTerminal({ state }: Pick<TaskRecord, 'state'>): boolean {
  return TERMINAL.has(state);
}

/** Returns whether the task goes on when it gets a message. */
export function isWaiting({ state }: Pick<TaskRecord, 'state'>): boolean {
  return WAITING.includes(state);
}

/** Returns whether a run of the task waits or works. */
export function isInFlight({ state }: Pick<TaskRecord, 'state'>): boolean {
  return state === 'TASK_STATE_SUBMITTED' || state === 'TASK_STATE_WORKING';
}
