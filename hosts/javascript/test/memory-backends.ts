/** Checkpoints and store in memory. Tests can hold or refuse single operations. */
import {
  BackendError,
  type CheckpointBackend,
  type CheckpointPut,
  type CheckpointQuery,
  metadataJsonOf,
  type PendingWrite,
  type SerializedValue,
  type StoreBackend,
  type StoredCheckpoint,
  type StoredItem,
  type StoreOperation,
  type StoreResult,
  type WritesPut,
} from '@runyard/checkpointer';

interface Write extends PendingWrite {
  index: number;
  runId: string | undefined;
}

type Stored = Omit<StoredCheckpoint, 'pendingWrites'> & {
  values: Map<string, SerializedValue>;
  metadataJson: Record<string, unknown>;
  runId: string | undefined;
};

interface Writes {
  pending: Write[];
  /** Writes that were replaced by others, each with the run that replaced it. */
  replaced: { by: string | undefined; write: Write }[];
}

export class MemoryCheckpoints implements CheckpointBackend {
  readonly stored: Stored[] = [];
  /** Keyed by thread, namespace and checkpoint id, because writes may come before their checkpoint. */
  readonly #writes = new Map<string, Writes>();
  /** Names of all operations, in the order of their calls. */
  readonly operations: string[] = [];
  /** Is awaited before a put ends; replace it to hold or refuse puts. */
  beforePut: (put: CheckpointPut) => Promise<void> = async () => {};
  beforeWrites: (put: WritesPut) => Promise<void> = async () => {};

  /** Operations take effect in the order of their calls, as in Postgres. */
  #last: Promise<unknown> = Promise.resolve();

  #inOrder<T>(operate: () => Promise<T>): Promise<T> {
    const result = this.#last.then(operate);
    this.#last = result.catch(() => {});
    return result;
  }

  /**
   * Returns the backend of one run.
   *
   * @param operationsMax puts and writes after which its worker is lost: all later ones are refused
   */
  ofRun(runId: string, operationsMax = Number.POSITIVE_INFINITY): CheckpointBackend {
    let left = operationsMax;
    const unlessLost = (operate: () => Promise<void>) => {
      left -= 1;
      return left < 0 ? Promise.reject(new BackendError('fenced', 'the worker is lost')) : operate();
    };
    return {
      get: (...place) => this.get(...place, runId),
      list: (query) => this.list(query, runId),
      put: (put) => unlessLost(() => this.put(put, runId)),
      putWrites: (put) => unlessLost(() => this.putWrites(put, runId)),
      deleteThread: () => this.deleteThread(),
    };
  }

  async get(
    threadId: string,
    namespace: string,
    checkpointId?: string,
    runId?: string,
  ): Promise<StoredCheckpoint | undefined> {
    this.operations.push('get');
    return (await this.list({ threadId, namespace, checkpointId, limit: 1 }, runId))[0];
  }

  async list(
    {
      threadId,
      namespace,
      checkpointId,
      beforeCheckpointId,
      after,
      filter,
      limit,
      withoutValuesOf = [],
    }: CheckpointQuery,
    runId?: string,
  ): Promise<StoredCheckpoint[]> {
    return this.stored
      .filter(
        ({ key, metadataJson }) =>
          (threadId === undefined || key.threadId === threadId) &&
          (namespace === undefined || key.namespace === namespace) &&
          (checkpointId === undefined || key.checkpointId === checkpointId) &&
          (beforeCheckpointId === undefined || key.checkpointId < beforeCheckpointId) &&
          (after === undefined || key.checkpointId < after.checkpointId) &&
          Object.entries(filter ?? {}).every(([name, value]) => metadataJson[name] === value),
      )
      .sort((a, b) => (a.key.checkpointId < b.key.checkpointId ? 1 : -1))
      .slice(0, limit)
      .map((stored) => storedAsReadBy(runId, stored, this.#writesAt(stored.key)))
      .map((stored) => ({
        ...stored,
        channelValues: stored.channelValues.filter(({ channel }) => !withoutValuesOf.includes(channel)),
      }));
  }

  put(put: CheckpointPut, runId?: string): Promise<void> {
    this.operations.push('put');
    return this.#inOrder(() => this.#put(put, runId));
  }

  async #put(put: CheckpointPut, runId?: string): Promise<void> {
    await this.beforePut(put);
    const parent = this.#find({ ...put.key, checkpointId: put.parentCheckpointId ?? '' });
    const values = new Map(parent?.values);
    for (const channel of values.keys()) if (!(channel in put.channelVersions)) values.delete(channel);
    for (const { channel, value } of put.blobs) {
      if (value) values.set(channel, copy(value));
      else values.delete(channel);
    }
    const { key } = put;
    const [checkpoint, metadata] = [copy(put.checkpoint), copy(put.metadata)];
    const before = this.#find(key);
    if (before && before.runId !== runId) return;
    if (before) this.stored.splice(this.stored.indexOf(before), 1);
    // One that is put again names itself.
    const isAgain = put.parentCheckpointId === key.checkpointId;
    const parentCheckpointId = isAgain ? before?.parentCheckpointId : put.parentCheckpointId;
    this.stored.push({
      key,
      parentCheckpointId,
      checkpoint,
      metadata,
      metadataJson: metadataJsonOf(put),
      values,
      runId,
      channelValues: [],
    });
  }

  putWrites(put: WritesPut, runId?: string): Promise<void> {
    this.operations.push('putWrites');
    return this.#inOrder(() => this.#putWrites(put, runId));
  }

  async #putWrites(put: WritesPut, runId?: string): Promise<void> {
    await this.beforeWrites(put);
    const { pending, replaced } = this.#writesAt(put.key);
    for (const { channel, value, index } of put.writes) {
      const before = pending.find((write) => write.taskId === put.taskId && write.index === index);
      if (before && index >= 0) continue;
      if (before) pending.splice(pending.indexOf(before), 1);
      if (before && before.runId !== runId) replaced.push({ by: runId, write: before });
      pending.push({ taskId: put.taskId, channel, value: copy(value), index, runId });
    }
  }

  async deleteThread(): Promise<void> {}

  #writesAt(key: Stored['key']): Writes {
    const place = JSON.stringify([key.threadId, key.namespace, key.checkpointId]);
    const writes = this.#writes.get(place) ?? { pending: [], replaced: [] };
    this.#writes.set(place, writes);
    return writes;
  }

  #find(key: Stored['key']): Stored | undefined {
    return this.stored.find(
      (stored) =>
        stored.key.threadId === key.threadId &&
        stored.key.namespace === key.namespace &&
        stored.key.checkpointId === key.checkpointId,
    );
  }
}

function storedAsReadBy(runId: string | undefined, stored: Stored, writes: Writes): StoredCheckpoint {
  const { key, parentCheckpointId, checkpoint, metadata, values } = stored;
  const { replaced } = writes;
  const pending = writes.pending.toSorted((a, b) =>
    a.taskId === b.taskId ? a.index - b.index : a.taskId < b.taskId ? -1 : 1,
  );
  const interrupts = pending.filter(isOfInterrupt);
  const before = [
    ...interrupts.filter((write) => write.runId !== runId),
    ...replaced.flatMap(({ by, write }) => (by === runId && isOfInterrupt(write) ? [write] : [])),
  ];
  const hasOwn = runId !== undefined && interrupts.some((write) => write.runId === runId);
  return {
    ...{ key, checkpoint, metadata },
    ...(parentCheckpointId !== undefined && { parentCheckpointId }),
    channelValues: [...values].map(([channel, value]) => ({ channel, value })),
    pendingWrites: pending.map(pendingWriteOf),
    ...(hasOwn && { interruptsBeforeRun: before.map(pendingWriteOf) }),
  };
}

function isOfInterrupt({ channel }: Write): boolean {
  return channel === '__interrupt__' || channel === '__resume__';
}

function pendingWriteOf({ taskId, channel, value }: Write): PendingWrite {
  return { taskId, channel, value };
}

/** Copies the bytes, because they belong to the message they came in. */
function copy({ type, data }: SerializedValue): SerializedValue {
  return { type, data: Uint8Array.from(data) };
}

export class MemoryStore implements StoreBackend {
  readonly items = new Map<string, StoredItem>();

  async batch(operations: StoreOperation[]): Promise<StoreResult[]> {
    return operations.map((operation) => {
      if (operation.kind === 'listNamespaces') return [];
      if (operation.kind === 'search') {
        const { namespacePrefix } = operation;
        return [...this.items.values()].filter(({ namespace }) => namespacePrefix.every((p, i) => namespace[i] === p));
      }
      const { namespace, key } = operation;
      const name = JSON.stringify([namespace, key]);
      if (operation.kind === 'get') return this.items.get(name) ?? null;
      const now = new Date().toISOString();
      if (operation.value === null) this.items.delete(name);
      else this.items.set(name, { namespace, key, value: operation.value, createdAt: now, updatedAt: now });
      return null;
    });
  }
}
