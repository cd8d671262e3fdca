/** Runs, from their creation to their end. */

import type { EncryptionError, EncryptionScope } from '@runyard/encryption';
import type { Scope } from '../scope.ts';
import type { ThreadTtl } from '../threads/types.ts';
import type {
  CancelAction,
  ErrorInfo,
  Fence,
  KeyedCreation,
  MultitaskStrategy,
  RunStatus,
  ThreadStatus,
} from '../types.ts';
import type { PushConfig } from '../webhooks/push-types.ts';
import type { WebhookTarget } from '../webhooks/types.ts';

/** The maker of a run, as its event names it. */
export interface RunCreator {
  /** The kind of the principal, or `cron`. */
  kind: string;
  /** The identity of the principal, or of the user who makes the cron; empty when there is none. */
  identity: string;
  /** The key of the platform with which the principal came. */
  keyId?: string | undefined;
}

/** A run request that was accepted: checked, completed with every default, and ready to be stored. */
export interface AcceptedRun {
  runId: string;
  /** Missing for a stateless run. */
  threadId?: string;
  /** The thread id of a stateless run, which nothing else may ever have had. Default: a new uuid v7. */
  statelessThreadId?: string | undefined;
  /**
   * True when the thread of a stateless run is kept (`on_completion: "keep"`); otherwise the run has no thread row and
   * no checkpoints.
   */
  keepsThread: boolean;
  /** The action when `threadId` names no thread. */
  ifThreadMissing: 'create' | 'reject';
  /** The scope of the thread. A thread outside of it counts as missing, and cannot be created. Default: any thread. */
  threadScope?: Scope;
  assistantId: string;
  graphId: string;
  metadata: Record<string, unknown>;
  /** The event of the creation names it, and no row of the run has it. Default: it is not known. */
  creator?: RunCreator;
  /** The run's arguments as JSON, shown as `kwargs` and read by the worker (`RunArguments` in contracts). */
  kwargs: Record<string, unknown>;
  multitaskStrategy: MultitaskStrategy;
  /** The run that has to be the newest of the thread, as this one answers it. Default: any, or none. */
  followsRunId?: string | undefined;
  /** Seconds from now before the run may start. */
  afterSeconds?: number;
  /** Receivers that are notified of the run's end, in any case. */
  webhooks?: WebhookTarget[];
  /** The A2A task that the run begins or continues, with the places where its end is sent. */
  task?: { taskId: string; pushConfigs: Omit<PushConfig, 'threadId'>[] } | undefined;
  /** Metadata of the thread if this run creates it, in addition to `graph_id` and `assistant_id`. */
  threadMetadata?: Record<string, unknown>;
  /** The time for which the thread is kept if this run creates it. Default: the deployment's own. */
  threadTtl?: ThreadTtl | undefined;
  keyed?: KeyedCreation<RunRecord> | undefined;
}

/** A run that another operation cancelled, and what the caller has to do for it. */
export interface CancelledRun {
  runId: string;
  threadId: string;
  attempt: number;
  action: CancelAction;
  /**
   * `ended`: it never started and is `interrupted` now; the caller has to notify watchers of its stream. `ordered`: it
   * runs; its worker has the order and ends it.
   */
  outcome: 'ended' | 'ordered';
  /** The thread's current epoch: its stream accepts appends under it. */
  fence: Fence;
}

export interface CreatedRun {
  run: RunRecord;
  /** Runs of the thread that were cancelled for this one (`interrupt`, `rollback`). */
  cancelled: CancelledRun[];
}

/** The runs to cancel. */
export type CancelSelection = (
  | {
      /** Runs of a thread: the named ones, or all in that status. */
      threadId: string;
      runIds?: string[] | undefined;
      status?: CancelledStatus | undefined;
    }
  /** Every run of an assistant. */
  | { assistantId: string }
  /** Every run of the deployment in that status. */
  | { status: CancelledStatus }
) & {
  /** Scope of the run's thread, or of the run itself where its thread is not kept. Default: no scope. */
  scope?: Scope | undefined;
};

/** Default: `all`. */
type CancelledStatus = 'pending' | 'running' | 'all';

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
  fault?: EncryptionError;
}

/** The result of a run so far. Its values may be large: only callers that can hold them read them. */
export interface RunOutcome {
  status: RunStatus;
  error: ErrorInfo | null;
  /** Size of the stored final values; 0 when there are none. */
  valuesBytes: number;
  /** JSON text of the final values; null when there are none, or they are larger than the requested limit. */
  values: Uint8Array | null;
}

/** A run that a worker claimed, with everything needed to execute it. */
export interface ClaimedRun {
  runId: string;
  threadId: string;
  assistantId: string;
  attempt: number;
  keepsThread: boolean;
  /** True when nothing was ever written of the state of its thread: there are no checkpoints to look for. */
  isThreadNew: boolean;
  metadata: Record<string, unknown>;
  kwargs: Record<string, unknown>;
  fence: Fence;
  /** True when the run is quarantined: it may have crashed its host, and needs an isolated one. */
  isQuarantined: boolean;
  /**
   * Milliseconds since the lost worker of its last attempt renewed its lease; null when it waited for another reason.
   */
  lostForMs: number | null;
  /** `enforced`: a budget stops the run once it is used up. `shadow`: budgets only count it. Default: none does. */
  budgets?: 'enforced' | 'shadow';
  createdAt: Date;
  /** The run works in it: all it writes is encrypted in the context of the run itself. Default: none. */
  inScope?: EncryptionScope;
}

/** A claimed run that is not decrypted yet: it waits for handlers of the project. */
export interface DelayedRun {
  runId: string;
  fence: Fence;
  /** Resolves without a run when that was released. Never rejects. */
  run: Promise<ClaimedRun | undefined>;
}

export interface FinishRun {
  fence: Fence;
  runId: string;
  status: Exclude<RunStatus, 'pending' | 'running'>;
  threadStatus: ThreadStatus;
  /** JSON text of the final values: `wait` and `join` return them, and they become the thread's `values`. */
  values: Uint8Array | null;
  /** JSON text `{task id: [{id, value}]}`; null when there are none. */
  interrupts: Uint8Array | null;
  checkpointId: string | null;
  error: ErrorInfo | null;
  /** Id of the run's first event in the thread's stream. */
  firstEventId?: string;
}

/** An end as it is stored. */
export interface EncodedFinish extends FinishRun {
  /** True when the run asks for an authorization: that is the state of its task, if it has one. */
  needsAuth: boolean;
}

/** The result of finishing a run. A cancel order that was durable before wins over the worker's report. */
export interface FinishedRun {
  status: FinishRun['status'];
  /** True when the run and its checkpoints were deleted (`rollback`). */
  isRolledBack: boolean;
  /** True when its rollback takes longer: the run ends, and its end is published, when a sweep has completed it. */
  isRollingBack: boolean;
  error: ErrorInfo | null;
  /** True when the thread has a run that may start now. */
  hasNextRun: boolean;
  /** Milliseconds from a cancel order to this end; null when there was none. */
  cancelledForMs: number | null;
}

/** The reason to release a run. */
export interface RunRelease {
  /** The failure of the attempt, which counts. Missing: the attempt does not count as failed. */
  failure?: ErrorInfo;
  /** Names the end of an attempt that does not count as failed. Its run says so when it is given up. */
  cause?: ErrorInfo;
  /** True when the worker stops in good order and hands the run back. */
  isDrained?: boolean;
  /**
   * True when the run was one of several in a host that crashed. Nobody knows which run caused the crash, so the
   * attempt does not count.
   */
  isQuarantined?: boolean;
  /**
   * Says that a key of the run's data was not to be had, and when that was found. The run waits for the key, and the
   * attempt does not count as failed; before anything was executed it is no attempt at all. A key that stays missing
   * ends the run.
   */
  awaitsKey?: 'beforeExecution' | 'duringExecution';
  /**
   * Milliseconds that the run waits before it is claimed again. Default: none after a failure that counts, longer with
   * each attempt after one that does not, and as the key demands for one that waits for a key.
   */
  delayMs?: number;
}

/** The result of releasing a run. */
export type ReleasedRun =
  | { outcome: 'pending' }
  /** Its rollback takes longer, as with a finished run. */
  | { outcome: 'rollingBack' }
  | ({ outcome: 'ended' } & Omit<FinishedRun, 'hasNextRun' | 'isRollingBack'>);
