/**
 * What the run engine takes and gives. Status words are those of the wire (`packages/contracts`); times are `Date`s;
 * JSON that only passes through stays text (`Uint8Array` of UTF-8) so that nothing on a run's path parses it.
 */

export type RunStatus = 'pending' | 'running' | 'error' | 'success' | 'timeout' | 'interrupted';
export type ThreadStatus = 'idle' | 'busy' | 'interrupted' | 'error';
export type MultitaskStrategy = 'reject' | 'interrupt' | 'rollback' | 'enqueue';
export type CancelAction = 'interrupt' | 'rollback';

/** A failure as clients see it: class name and sanitized message. */
export interface ErrorInfo {
  error: string;
  message: string;
}

/** The right to write one thread: stale as soon as another attempt, a cancel or a rollback has bumped the epoch. */
export interface Fence {
  threadId: string;
  epoch: bigint;
  runId: string | null;
}

export interface CreateRun {
  runId: string;
  /** Left out: a stateless run. Its thread id is made by the engine (uuid v7). */
  threadId?: string;
  /** Stateless only: keep the thread (`on_completion: "keep"`) or run without thread row and checkpoints. */
  keepsThread: boolean;
  /** What to do when `threadId` names no thread. */
  ifThreadMissing: 'create' | 'reject';
  assistantId: string;
  graphId: string;
  metadata: Record<string, unknown>;
  /** The run's arguments as JSON, shown as `kwargs` and read by the worker (`RunArguments` in contracts). */
  kwargs: Record<string, unknown>;
  multitaskStrategy: MultitaskStrategy;
  /** Seconds from now before the run may start. */
  afterSeconds?: number;
}

export interface RunRecord {
  runId: string;
  threadId: string;
  assistantId: string;
  status: RunStatus;
  metadata: Record<string, unknown>;
  kwargs: Record<string, unknown>;
  multitaskStrategy: MultitaskStrategy;
  attempt: number;
  keepsThread: boolean;
  firstEventId: string | null;
  /** JSON text of the final values; null until terminal. */
  result: Uint8Array | null;
  error: ErrorInfo | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A run taken by a worker, with everything needed to execute it. */
export interface ClaimedRun {
  runId: string;
  threadId: string;
  assistantId: string;
  attempt: number;
  keepsThread: boolean;
  metadata: Record<string, unknown>;
  kwargs: Record<string, unknown>;
  fence: Fence;
  /** True when an earlier attempt of this run committed a checkpoint: go on from it with input null. */
  hasCheckpoint: boolean;
  createdAt: Date;
}

export interface FinishRun {
  fence: Fence;
  runId: string;
  status: Exclude<RunStatus, 'pending' | 'running'>;
  threadStatus: ThreadStatus;
  /** JSON text of the final values: what `wait` and `join` answer and what the thread's `values` become. */
  values: Uint8Array | null;
  /** JSON text `{task id: [{id, value}]}`; null when there are none. */
  interrupts: Uint8Array | null;
  checkpointId: string | null;
  error: ErrorInfo | null;
}

/** What a worker learns about a run it holds, besides that its lease was renewed. */
export interface CancelOrder {
  runId: string;
  action: CancelAction;
  reason: string;
}
