/**
 * What the run engine takes and gives. Status words are those of the wire (`packages/contracts`); times are `Date`s;
 * JSON that only passes through stays text (`Uint8Array` of UTF-8) so that nothing on a run's path parses it.
 */

import type { KeyedRequest } from '@runyard/database';
import type pg from 'pg';
import type { WebhookTarget } from './webhooks/types.ts';

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

/** A creation by a request that may come again: its key is bound in the transaction that creates. */
export interface KeyedCreation<Made> {
  request: KeyedRequest;
  /** The JSON value that is kept with the key, for every further request with it. */
  answerOf(made: Made): unknown;
}

/** The same for a thread. */
export interface KeyedThread {
  request: KeyedRequest;
  /** Read in the transaction that makes the thread. */
  answerOf(client: pg.ClientBase): Promise<unknown>;
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
export type CancelSelection =
  /** Runs of a thread: these, or all in that status. */
  | { threadId: string; runIds?: string[] | undefined; status?: CancelledStatus | undefined }
  /** Every run of an assistant. */
  | { assistantId: string }
  /** Every run of the deployment in that status. */
  | { status: CancelledStatus };

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
  /** An earlier attempt of this run committed a checkpoint: go on from it with input null. */
  hasCheckpoint: boolean;
  /**
   * An earlier attempt stored the answer to an interrupt: go on with input null too. Given again, the answer could be taken
   * for that to the next interrupt.
   */
  hasResumed: boolean;
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
export type ReleasedRun = { outcome: 'pending' } | ({ outcome: 'ended' } & Omit<FinishedRun, 'hasNextRun'>);

/** What a worker learns about a run it holds. */
export interface CancelOrder {
  runId: string;
  action: CancelAction;
  reason: string;
}

export interface LeaseRenewal {
  /** False: the lease had lapsed and the worker's row is gone; it holds nothing and registers anew. */
  isRegistered: boolean;
  orders: CancelOrder[];
  /** Runs given as held that belong to somebody else now, or to nobody. */
  lostRunIds: string[];
  /**
   * Runs the worker has by the database and did not give as held: claimed a moment ago, or in a claim whose answer never
   * arrived. One that stays in this list is to be released.
   */
  unheld: Fence[];
}

export interface WorkerRegistration {
  workerId: string;
  revisionId: string;
  slots: number;
}

/** A run a sweep brought to a terminal status. */
export interface SweptRun {
  runId: string;
  attempt: number;
  status: FinishRun['status'];
  error: ErrorInfo | null;
  isRolledBack: boolean;
  /** Milliseconds from a cancel order to this end; null when there was none. */
  cancelledForMs: number | null;
  /** Under it the end can be told on the thread's stream. */
  fence: Fence;
}

/** What became of the runs of lapsed workers. */
export interface TakenRuns {
  /** Pending again. */
  resumedRunIds: string[];
  ended: SweptRun[];
}

export interface SweepResult extends TakenRuns {
  /** Runs are ready and nobody has taken them for a while: wake workers. */
  hasForgottenRuns: boolean;
  /** Rows of ended stateless runs removed after their time. */
  removedRuns: number;
  /** Results removed after their time, with those rows or from rows that stay. */
  removedResults: number;
}

export interface ThreadRecord {
  threadId: string;
  status: ThreadStatus;
  metadata: Record<string, unknown>;
  config: Record<string, unknown>;
  error: ErrorInfo | null;
  createdAt: Date;
  updatedAt: Date;
  stateUpdatedAt: Date;
}

/** How long a thread is kept, in minutes, and what goes then: all of it, or every checkpoint but what its newest state needs. */
export interface ThreadTtl {
  strategy: PruneStrategy;
  minutes: number;
}

export type PruneStrategy = 'delete' | 'keep_latest';

export interface NewThread {
  metadata: Record<string, unknown>;
  config?: Record<string, unknown>;
  /** Left out: the deployment's own. */
  ttl?: ThreadTtl;
}

export interface CreateThread extends NewThread {
  threadId: string;
  /** `raise`: a thread with that id is a conflict. `do_nothing`: it is answered as it is. */
  ifExists: 'raise' | 'do_nothing';
}

export interface CommitStateUpdate {
  fence: Fence;
  values: Uint8Array | null;
  interrupts: Uint8Array | null;
  checkpointId: string;
  /** Null: as it is, with the thread's error. */
  status: ThreadStatus | null;
  /** Becomes `metadata.graph_id` when the thread has none. */
  graphId?: string;
}

/** A draft that becomes a thread with the state its checkpoints have. */
export interface CompleteDraft extends Omit<CommitStateUpdate, 'graphId'> {
  status: ThreadStatus;
  thread: NewThread;
}

export interface CopyThread {
  sourceId: string;
  /** Of the copy; new. */
  threadId: string;
  /** Merged into the metadata of the copy. */
  metadata: Record<string, unknown>;
}

export interface CopiedThread {
  /** The source's stored values are older than its newest checkpoint (a run is under way): those of the copy are to be read anew. */
  isStateBehind: boolean;
}

/** What a pass over threads past their time did. */
export interface ExpiredThreads {
  deletedIds: string[];
  prunedIds: string[];
}

/** What the checkpoints of a thread take up, in bytes as stored before compression. */
export interface ThreadStorage {
  checkpoints: { count: number; bytes: number };
  /** Of all channels, and by channel. */
  channelValues: { count: number; bytes: number; byChannel: Record<string, { versions: number; bytes: number }> };
  pendingWrites: { count: number; bytes: number };
}

/** Numbers of the whole deployment, as `/metrics` shows them. Times in seconds. */
export interface QueueStatistics {
  pendingRuns: number;
  runningRuns: number;
  pendingWaitMax: number;
  pendingWaitMedian: number;
  /** Of pending runs whose thread is idle. */
  unblockedWaitMax: number;
  workers: number;
  slots: number;
}
