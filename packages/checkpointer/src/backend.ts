/**
 * The byte-level operations below a checkpoint saver and a store. Values are opaque: only the project's own serializer
 * writes and reads them, so that a worker can store state of any language without understanding it.
 *
 * Two implementations: Postgres (`postgres-checkpoints.ts`), and a proxy in the child process that runs user code. The
 * proxy sends each operation to its parent (`hosts/javascript`).
 */

/** A value from LangGraph's serializer: a type tag ("json", "bytes", …) and its bytes. */
export interface SerializedValue {
  type: string;
  data: Uint8Array;
}

export interface CheckpointKey {
  threadId: string;
  /** Empty for the root graph. */
  namespace: string;
  checkpointId: string;
}

/** One `put`: the checkpoint without its channel values, and the values of the changed channels. */
export interface CheckpointPut {
  key: CheckpointKey;
  parentCheckpointId?: string;
  /** The checkpoint object with `channel_values` emptied. */
  checkpoint: SerializedValue;
  metadata: SerializedValue;
  /**
   * The same metadata as plain JSON, for `filter` in list and for searches. Left out where `metadata` is that already:
   * JSON text of an object, of type "json".
   */
  metadataJson?: Record<string, unknown>;
  /** The version of every channel at this checkpoint. */
  channelVersions: Record<string, string>;
  /**
   * Channels that this checkpoint writes, with their new versions; an entry without a value means that the channel is
   * empty.
   */
  blobs: { channel: string; version: string; value?: SerializedValue }[];
  /**
   * A number that never falls during a run and says how far the run's stream was when this was written. The storage
   * keeps it beside the checkpoint, where no client sees it. Left out by writers that stream nothing.
   */
  streamPosition?: number;
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
  /** Says how far the run’s stream was when these were written. */
  streamPosition?: number;
}

export interface StoredCheckpoint {
  key: CheckpointKey;
  parentCheckpointId?: string;
  checkpoint: SerializedValue;
  metadata: SerializedValue;
  /** The channels that have a value. */
  channelValues: { channel: string; value: SerializedValue }[];
  pendingWrites: PendingWrite[];
  /**
   * Interrupts and their answers (writes to `__interrupt__` and `__resume__`) before the reading run wrote any here.
   * Missing where it has written none, and for readers that are not runs.
   */
  interruptsBeforeRun?: PendingWrite[];
}

export interface CheckpointQuery {
  threadId?: string;
  /** Default: every namespace. */
  namespace?: string;
  checkpointId?: string;
  /** Limits the list to checkpoints older than this one. */
  beforeCheckpointId?: string;
  /** The last checkpoint of the page before: the list goes on after it. */
  after?: CheckpointKey;
  /** Metadata keys and the values they must equal. */
  filter?: Record<string, unknown>;
  limit?: number;
  /** Channels whose values are not read: the checkpoints come without them. */
  withoutValuesOf?: string[];
}

/** The values and writes of one channel at the ancestors of a checkpoint. */
export interface ChannelHistory {
  channel: string;
  /** Its value at the nearest ancestor that has one; missing when none has. */
  seed?: SerializedValue;
  /** Writes to it at that ancestor and the ones after it, oldest first, without those at the checkpoint itself. */
  writes: PendingWrite[];
}

export interface CheckpointBackend {
  /** Returns the named checkpoint, or the newest of the namespace without `checkpointId`. */
  get(threadId: string, namespace: string, checkpointId?: string): Promise<StoredCheckpoint | undefined>;
  /**
   * Returns a page, the newest first. It may end before its limit, as large checkpoints are read a few at a time; an
   * empty one is the end.
   */
  list(query: CheckpointQuery): Promise<StoredCheckpoint[]>;
  /** Resolves once durable. Puts and writes of one thread become durable in the order they were called. */
  put(put: CheckpointPut): Promise<void>;
  putWrites(put: WritesPut): Promise<void>;
  deleteThread(threadId: string): Promise<void>;
  /**
   * Returns the histories of channels whose checkpoints store only changes: follows the parents of the checkpoint, per
   * channel up to the nearest with a value. Without this operation a saver reads each ancestor separately. The result
   * has one entry per channel.
   */
  channelHistories?(key: CheckpointKey, channels: string[]): Promise<ChannelHistory[]>;
}

interface ScopedOperation {
  /**
   * The items that an operation may touch: those whose fields contain one of these objects. An item has the fields of its
   * value, and `namespace` and `key`, which win over fields of these names. Default: every item.
   */
  scope?: readonly Readonly<Record<string, unknown>>[];
}

/** One operation of LangGraph's `BaseStore.batch`, as plain JSON. */
export type StoreOperation = ScopedOperation &
  (
    | {
        kind: 'get';
        namespace: string[];
        key: string;
        /** True when reading restarts the item's ttl. Default: the setting of the store. */
        refreshTtl?: boolean;
      }
    | {
        kind: 'put';
        namespace: string[];
        key: string;
        /** The value; null deletes the item. */
        value: Record<string, unknown> | null;
        /** The paths to embed, or false for nothing. Default: the setting of the store. */
        index?: false | string[];
        /** Minutes without a refresh after which the item expires; -1: never. Default: the setting of the store. */
        ttlMinutes?: number;
      }
    | {
        kind: 'search';
        namespacePrefix: string[];
        filter?: Record<string, unknown>;
        limit?: number;
        offset?: number;
        /** Ranks the embedded items by similarity of meaning. Ranks nothing when the store has no index. */
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
  /** ISO 8601 time. */
  createdAt: string;
  updatedAt: string;
  /** Cosine of the angle to the query, from -1 to 1; the nearest of an item's texts counts. */
  score?: number;
}

export type StoreResult = StoredItem | null | StoredItem[] | string[][];

export interface StoreBackend {
  /** Returns results in the order of the operations; the result of a put is null. */
  batch(operations: StoreOperation[]): Promise<StoreResult[]>;
}

/**
 * A backend refused. Reasons: with `fenced`, another attempt owns the thread now and this one must stop. With
 * `unreadable`, stored data cannot be decrypted here. With `embedding_failed`, the project's embeddings returned no
 * vectors. With `not_found`, an item is outside of the scope. With `unavailable` the storage is known to be away or
 * overloaded, and a later try may succeed; any failure that nobody foresaw is `storage_failed`.
 */
export class BackendError extends Error {
  /** Names that clients see on a run that ends with the error. */
  static readonly #names = {
    fenced: 'FencedError',
    unavailable: 'StorageUnavailableError',
    unreadable: 'StateUnreadableError',
    too_large: 'StateTooLargeError',
    invalid: 'StateRefusedError',
    embedding_failed: 'EmbeddingFailedError',
    encryption_failed: 'EncryptionFailedError',
    not_found: 'ItemNotFoundError',
    storage_failed: 'StorageFailedError',
  };
  readonly reason:
    | 'fenced'
    | 'unavailable'
    | 'unreadable'
    | 'too_large'
    | 'invalid'
    | 'embedding_failed'
    | 'encryption_failed'
    | 'not_found'
    | 'storage_failed';
  constructor(reason: BackendError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = BackendError.#names[reason];
    this.reason = reason;
  }
}
