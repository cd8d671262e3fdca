/** Threads and their state. */

import type { ErrorInfo, Fence, ThreadStatus } from '../types.ts';

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
}

/** A draft that becomes a thread with the state its checkpoints have. */
export interface CompleteDraft extends CommitStateUpdate {
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

/** A thread that is gone, with everything of it. */
export interface DeletedThread {
  threadId: string;
  /** Above that of everybody who had the thread, and not above those of a new one with its id: under it its stream is forgotten. */
  epoch: bigint;
}

/** Threads that lost their past: all that was of them, or all but their newest state. */
export interface PrunedThreads {
  deleted: DeletedThread[];
  prunedIds: string[];
}

/** What one transaction did about some of them. */
export interface PrunedPart extends PrunedThreads {
  /** More is to be removed of these. */
  leftIds: string[];
}

/** What the checkpoints of a thread take up, in bytes as stored before compression. */
export interface ThreadStorage {
  checkpoints: { count: number; bytes: number };
  /** Of all channels, and by channel. */
  channelValues: { count: number; bytes: number; byChannel: Record<string, { versions: number; bytes: number }> };
  pendingWrites: { count: number; bytes: number };
}
