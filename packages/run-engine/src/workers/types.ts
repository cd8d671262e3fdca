/** Messages between workers and the processes that watch them. */

import type { FinishRun } from '../runs/types.ts';
import type { CancelAction, ErrorInfo, Fence } from '../types.ts';

/** A cancel order for a run that the worker holds. */
export interface CancelOrder {
  runId: string;
  action: CancelAction;
  reason: string;
}

export interface LeaseRenewal {
  /** False: the lease had expired and the worker's row is deleted; it holds nothing and has to register again. */
  isRegistered: boolean;
  orders: CancelOrder[];
  /** The held fences that belong to another owner now, or to none. */
  lost: Fence[];
  /**
   * Runs that the worker has in the database and did not name as held: claimed a moment ago, or in a claim whose answer
   * was lost. The worker should release one that stays in this list.
   */
  unheld: Fence[];
}

export interface WorkerRegistration {
  workerId: string;
  revisionId: string;
  slots: number;
}

/** A run that a sweep brought to a terminal status. */
export interface SweptRun {
  runId: string;
  attempt: number;
  status: FinishRun['status'];
  error: ErrorInfo | null;
  isRolledBack: boolean;
  /** Milliseconds from a cancel order to this end; null when there was none. */
  cancelledForMs: number | null;
  /** The end can be published on the thread's stream under this fence. */
  fence: Fence;
}

/** The result of taking back the runs of lapsed workers. */
export interface TakenBackRuns {
  /** Runs that are pending again. */
  resumedRunIds: string[];
  ended: SweptRun[];
  /** True when another transaction had locked the thread of a lost run: the caller has to come back soon. */
  hasLockedThreads: boolean;
}

/** The result of looking for the runs of lapsed workers. */
export interface LostRunsSweep extends TakenBackRuns {
  /** False when no worker had a run: a lease that covers one cannot lapse before most of it has passed. */
  hasRunningRuns: boolean;
}

export interface SweepResult extends LostRunsSweep {
  /** True when runs have been ready for a while and nobody has claimed them: the caller has to wake workers. */
  hasUnclaimedRuns: boolean;
  /** Number of expired rows of stateless runs that were removed. */
  removedRuns: number;
  /** Number of expired results that were removed, with those rows or from rows that stay. */
  removedResults: number;
}

/** Numbers of the whole deployment for `/metrics`. Times are in seconds. */
export interface QueueStatistics {
  pendingRuns: number;
  runningRuns: number;
  pendingWaitMax: number;
  pendingWaitMedian: number;
  /** Longest wait of a pending run whose thread is idle. */
  unblockedWaitMax: number;
  /** Pending runs whose encryption key no worker has got at the last try. */
  runsAwaitingKeys: number;
  workers: number;
  slots: number;
}
