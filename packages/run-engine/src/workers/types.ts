/** What workers and those who look after them say and are told. */

import type { FinishRun } from '../runs/types.ts';
import type { CancelAction, ErrorInfo, Fence } from '../types.ts';

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
  /** Of those given as held, what belongs to somebody else now, or to nobody. */
  lost: Fence[];
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
