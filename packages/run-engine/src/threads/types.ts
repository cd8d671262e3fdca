/** Threads and their state. */

import type { Scope } from '../scope.ts';
import type { ErrorInfo, Fence, ThreadStatus } from '../types.ts';

/** Times are in ISO 8601, to the microsecond. */
export interface ThreadRecord {
  threadId: string;
  status: ThreadStatus;
  metadata: Record<string, unknown>;
  config: Record<string, unknown>;
  error: ErrorInfo | null;
  createdAt: string;
  updatedAt: string;
  stateUpdatedAt: string;
}

export interface CreatedThread extends ThreadRecord {
  /** False when the thread was there already: it may have a state. */
  isNew: boolean;
}

/**
 * The time for which a thread is kept, in minutes, and what is deleted then: all of it, or every checkpoint that its
 * newest state does not need.
 */
export interface ThreadTtl {
  strategy: PruneStrategy;
  minutes: number;
}

export type PruneStrategy = 'delete' | 'keep_latest';

export interface NewThread {
  metadata: Record<string, unknown>;
  config?: Record<string, unknown>;
  /** Default: the deployment's own. */
  ttl?: ThreadTtl;
}

export interface CreateThread extends NewThread {
  threadId: string;
  /** `raise`: an existing thread with that id is a conflict. `do_nothing`: it is returned unchanged. */
  ifExists: 'raise' | 'do_nothing';
  /** The threads that `do_nothing` returns; any other is a conflict. Default: all. */
  existingScope?: Scope;
}

export interface CommitStateUpdate {
  fence: Fence;
  values: Uint8Array | null;
  interrupts: Uint8Array | null;
  checkpointId: string;
  /** Null: status and error stay as they are. */
  status: ThreadStatus | null;
}

/** A draft that becomes a thread with the state of its checkpoints. */
export interface CompleteDraft extends CommitStateUpdate {
  status: ThreadStatus;
  thread: NewThread;
}

export interface CopyThread {
  sourceId: string;
  /** The new id of the copy. */
  threadId: string;
  /** Merged into the metadata of the copy. */
  metadata: Record<string, unknown>;
}

export interface CopiedThread {
  /**
   * True when the source's stored values are older than its newest checkpoint (a run is running): those of the copy
   * must be read again.
   */
  isStateOutdated: boolean;
  /** True when the source has a run in flight, so that its status is not the copy's. */
  isOfBusy: boolean;
}

/** A thread that was deleted completely. */
export interface DeletedThread {
  threadId: string;
  /**
   * The epoch under which the thread's stream is deleted: above those of all its owners, and not above those of a new
   * thread with its id.
   */
  epoch: bigint;
  /** True when stateless runs have the same id. They are no part of the thread, and their events are in its stream. */
  hasStatelessRuns: boolean;
}

/** Threads that lost their history: deleted completely, or reduced to their newest state. */
export interface PrunedThreads {
  deleted: DeletedThread[];
  prunedIds: string[];
}

/** The result of one transaction for a part of the threads. */
export interface PrunedPart extends PrunedThreads {
  /** Threads of which more must be removed. */
  remainingIds: string[];
}

/** Storage of a thread's checkpoints, in bytes before compression. */
export interface ThreadStorage {
  checkpoints: { count: number; bytes: number };
  /** Values of all channels, and by channel. */
  channelValues: { count: number; bytes: number; byChannel: Record<string, { versions: number; bytes: number }> };
  pendingWrites: { count: number; bytes: number };
}
