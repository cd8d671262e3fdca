/**
 * The byte-level operations a checkpoint saver and a store are made of. Values are opaque: the project's own serializer
 * wrote them and only it reads them, so a worker can store state of any language without understanding it.
 *
 * Two implementations: Postgres (`postgres-checkpoints.ts`), and in the child process that runs user code a proxy which
 * sends each operation to its parent (`packages/graph-host`).
 */

/** A value as LangGraph's serializer gives it: a type tag ("json", "bytes", …) and its bytes. */
export interface SerializedValue {
  type: string;
  data: Uint8Array;
}

export interface CheckpointKey {
  threadId: string;
  /** "" for the root graph. */
  namespace: string;
  checkpointId: string;
}

/** One `put`: the checkpoint without its channel values, and the values of just the channels that changed. */
export interface CheckpointPut {
  key: CheckpointKey;
  parentCheckpointId?: string;
  /** The checkpoint object with `channel_values` emptied. */
  checkpoint: SerializedValue;
  metadata: SerializedValue;
  /** The same metadata as plain JSON, for `filter` in list and for what is searchable. */
  metadataJson: Record<string, unknown>;
  /** Every channel's version at this checkpoint. */
  channelVersions: Record<string, string>;
  /** Channels this checkpoint writes anew, with the version written; no value means the channel is empty. */
  blobs: { channel: string; version: string; value?: SerializedValue }[];
}

export interface PendingWrite {
  taskId: string;
  channel: string;
  value: SerializedValue;
}

export interface WritesPut {
  key: CheckpointKey;
  taskId: string;
  taskPath: string;
  /** `index` is negative for the special channels (error, interrupt, resume, …), where the last write wins. */
  writes: { index: number; channel: string; value: SerializedValue }[];
}

export interface StoredCheckpoint {
  key: CheckpointKey;
  parentCheckpointId?: string;
  checkpoint: SerializedValue;
  metadata: SerializedValue;
  /** Only channels that hold a value. */
  channelValues: { channel: string; value: SerializedValue }[];
  pendingWrites: PendingWrite[];
  /**
   * Interrupts and the answers to them (writes to `__interrupt__` and `__resume__`) as they were before the run that reads wrote
   * any here. Left out where it has written none, and for who reads without being a run.
   */
  interruptsBeforeRun?: PendingWrite[];
}

export interface CheckpointQuery {
  threadId?: string;
  /** Left out: every namespace. */
  namespace?: string;
  checkpointId?: string;
  /** Only checkpoints older than this one. */
  beforeCheckpointId?: string;
  /** Equality on metadata keys. */
  filter?: Record<string, unknown>;
  limit?: number;
}

/** What the ancestors of a checkpoint say about one channel. */
export interface ChannelHistory {
  channel: string;
  /** Its value at the nearest ancestor that has one; left out when none has. */
  seed?: SerializedValue;
  /** Writes to it at that ancestor and the ones after it, oldest first; not those at the checkpoint itself. */
  writes: PendingWrite[];
}

export interface CheckpointBackend {
  /** The named checkpoint, or the newest of the namespace when `checkpointId` is left out. */
  get(threadId: string, namespace: string, checkpointId?: string): Promise<StoredCheckpoint | undefined>;
  /** Newest first. */
  list(query: CheckpointQuery): Promise<StoredCheckpoint[]>;
  /** Resolves once durable. Puts and writes of one thread become durable in the order they were called. */
  put(put: CheckpointPut): Promise<void>;
  putWrites(put: WritesPut): Promise<void>;
  deleteThread(threadId: string): Promise<void>;
  /**
   * For channels of which a checkpoint holds only what changed: follows the parents of the checkpoint, per channel up to the
   * nearest that has a value. Without it a saver asks for each ancestor by itself. One entry per channel.
   */
  channelHistories?(key: CheckpointKey, channels: string[]): Promise<ChannelHistory[]>;
}

/** Which items an operation may touch: those whose value has all these fields. Left out: every item. */
interface ScopedOperation {
  scope?: Readonly<Record<string, unknown>>;
}

/** One operation of LangGraph's `BaseStore.batch`, as plain JSON. */
export type StoreOperation = ScopedOperation &
  (
    | {
        kind: 'get';
        namespace: string[];
        key: string;
        /** Whether the item's time starts again. Left out: as the store is set. */
        refreshTtl?: boolean;
      }
    | {
        kind: 'put';
        namespace: string[];
        key: string;
        /** Null deletes the item. */
        value: Record<string, unknown> | null;
        /** What is embedded of it: these paths, or nothing. Left out: as the store is set. */
        index?: false | string[];
        /** After so many minutes without a refresh nobody sees the item any more; -1: never. Left out: as the store is set. */
        ttlMinutes?: number;
      }
    | {
        kind: 'search';
        namespacePrefix: string[];
        filter?: Record<string, unknown>;
        limit?: number;
        offset?: number;
        /** Ranks the embedded items by how near their meaning is. Ranks nothing when the store has no index. */
        query?: string;
        refreshTtl?: boolean;
      }
    | {
        kind: 'listNamespaces';
        prefix?: string[];
        suffix?: string[];
        maxDepth?: number;
        limit?: number;
        offset?: number;
      }
  );

export interface StoredItem {
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  /** ISO 8601. */
  createdAt: string;
  updatedAt: string;
  /** Cosine of the angle to the query, from -1 to 1; of several texts of an item the nearest counts. */
  score?: number;
}

export type StoreResult = StoredItem | null | StoredItem[] | string[][];

export interface StoreBackend {
  /** Results in the order of the operations; a put answers null. */
  batch(operations: StoreOperation[]): Promise<StoreResult[]>;
}

/**
 * Why a backend refused: `fenced` means another attempt owns the thread now and this one must stop, `unreadable` that what is kept
 * cannot be decrypted here, `embedding_failed` that the project's embeddings gave no vectors, `not_found` that an item is outside
 * of the scope.
 */
export class BackendError extends Error {
  /** The name that clients see on a run that ends with it. */
  static readonly #names = {
    fenced: 'FencedError',
    unavailable: 'StorageUnavailableError',
    unreadable: 'StateUnreadableError',
    too_large: 'StateTooLargeError',
    invalid: 'StateRefusedError',
    embedding_failed: 'EmbeddingFailedError',
    not_found: 'ItemNotFoundError',
  };
  readonly reason: 'fenced' | 'unavailable' | 'unreadable' | 'too_large' | 'invalid' | 'embedding_failed' | 'not_found';
  constructor(reason: BackendError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = BackendError.#names[reason];
    this.reason = reason;
  }
}
