/** Runs, from their creation to their end. */

import type { SealingError } from '@runyard/sealing';
import type {
  CancelAction,
  ErrorInfo,
  Fence,
  KeyedCreation,
  MultitaskStrategy,
  RunStatus,
  Scope,
  ThreadStatus,
} from '../types.ts';
import type { WebhookTarget } from '../webhooks/types.ts';

export interface CreateRun {
  runId: string;
  /** Left out: a stateless run. Its thread id is made by the engine (uuid v7). */
  threadId?: string;
  /** Stateless only: keep the thread (`on_completion: "keep"`) or run without thread row and checkpoints. */
  keepsThread: boolean;
  /** What to do when `threadId` names no thread. */
  ifThreadMissing: 'create' | 'reject';
  /** Of the thread, which is as missing when it is outside: nothing is created there either. Left out: any thread. */
  threadScope?: Scope;
  assistantId: string;
  graphId: string;
  metadata: Record<string, unknown>;
  /** The run's arguments as JSON, shown as `kwargs` and read by the worker (`RunArguments` in contracts). */
  kwargs: Record<string, unknown>;
  multitaskStrategy: MultitaskStrategy;
  /** Seconds from now before the run may start. */
  afterSeconds?: number;
  /** Who is told when the run is over, whatever becomes of it. */
  webhooks?: WebhookTarget[];
  /** Metadata of the thread if this run makes it, besides `graph_id` and `assistant_id`. */
  threadMetadata?: Record<string, unknown>;
  keyed?: KeyedCreation<RunRecord> | undefined;
}

/** A run another operation cancelled, and what is left to do about it. */
export interface CancelledRun {
  runId: string;
  threadId: string;
  attempt: number;
  action: CancelAction;
  /**
   * `ended`: it never started and is `interrupted` now; whoever watches its stream is to be told.
   * `ordered`: it runs; its worker has the order and ends it.
   */
  outcome: 'ended' | 'ordered';
  /** The thread's epoch now: appends to its stream under it are accepted. */
  fence: Fence;
}

export interface CreatedRun {
  run: RunRecord;
  /** Runs of the thread that gave way to this one (`interrupt`, `rollback`). */
  cancelled: CancelledRun[];
}

/** Which runs a cancel is about. */
export type CancelSelection = (
  | {
      /** Runs of a thread: these, or all in that status. */
      threadId: string;
      runIds?: string[] | undefined;
      status?: CancelledStatus | undefined;
    }
  /** Every run of an assistant. */
  | { assistantId: string }
  /** Every run of the deployment in that status. */
  | { status: CancelledStatus }
) & {
  /** Of the run's thread, and of the run itself where its thread is not kept. Left out: whosever they are. */
  scope?: Scope | undefined;
};

/** Left out: as `all`. */
export type CancelledStatus = 'pending' | 'running' | 'all';

/** A run that was deleted before it was over: whoever watches it is to be told of the end. */
export interface DeletedRun {
  runId: string;
  attempt: number;
  /** Under it the end can be told on the thread's stream. */
  fence: Fence;
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
  cancelAction: CancelAction | null;
  cancelReason: string | null;
  firstEventId: string | null;
  error: ErrorInfo | null;
  createdAt: Date;
  updatedAt: Date;
  /** Why `kwargs` is empty: they cannot be decrypted here. */
  fault?: SealingError;
}

/** What a run has come to so far. Its values may be large: they are read only by whoever has room for them. */
export interface RunOutcome {
  status: RunStatus;
  error: ErrorInfo | null;
  /** Size of the final values as they are stored; 0 when there are none. */
  valuesBytes: number;
  /** JSON text of the final values; null when there are none, or they are larger than was asked for. */
  values: Uint8Array | null;
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
  /** It may have been the one that took its host down: it is to be executed in a host of its own. */
  isSuspect: boolean;
  /** Milliseconds since the worker of its last attempt, which was lost, was heard of; null when it waited for another reason. */
  lostForMs: number | null;
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
  /** Id of the run's first event in the thread's stream. */
  firstEventId?: string;
}

/** How a finish came out; a cancel order that was durable first decides over what the worker reported. */
export interface FinishedRun {
  status: FinishRun['status'];
  /** The run and its checkpoints are gone (`rollback`). */
  isRolledBack: boolean;
  /** Its rollback takes longer: the run is over, and is told to be so, once whoever sweeps is done with that. */
  isGoingOn: boolean;
  error: ErrorInfo | null;
  /** The thread has a run that may start now. */
  hasNextRun: boolean;
  /** Milliseconds from a cancel order to this end; null when there was none. */
  cancelledForMs: number | null;
}

/** Why a run is given back. */
export interface RunRelease {
  /** The attempt failed for this reason; it counts. Left out: the run is handed over in good order. */
  failure?: ErrorInfo;
  /** The run was one of several in a host that ended; which one is to blame is not known, so it does not count. */
  isSuspect?: boolean;
}

/** What became of a run that was given back. */
export type ReleasedRun =
  | { outcome: 'pending' }
  /** Its rollback takes longer, as for one that is finished. */
  | { outcome: 'goingOn' }
  | ({ outcome: 'ended' } & Omit<FinishedRun, 'hasNextRun' | 'isGoingOn'>);
