/** Checkpoints and store in memory, with switches for the moments a test needs to hold open. */
import type {
  CheckpointBackend,
  CheckpointPut,
  CheckpointQuery,
  SerializedValue,
  StoreBackend,
  StoredCheckpoint,
  StoredItem,
  StoreOperation,
  StoreResult,
  WritesPut,
} from '@runyard/checkpointer';

type Stored = StoredCheckpoint & { values: Map<string, SerializedValue>; metadataJson: Record<string, unknown> };

export class MemoryCheckpoints implements CheckpointBackend {
  readonly stored: Stored[] = [];
  /** Every operation by name, in the order it was asked for. */
  readonly operations: string[] = [];
  /** Awaited before a put ends; replace it to hold or refuse puts. */
  beforePut: (put: CheckpointPut) => Promise<void> = async () => {};
  beforeWrites: (put: WritesPut) => Promise<void> = async () => {};

  /** Operations take effect in the order they were called, as in Postgres. */
  #last: Promise<unknown> = Promise.resolve();

  #inOrder<T>(operate: () => Promise<T>): Promise<T> {
    const result = this.#last.then(operate);
    this.#last = result.catch(() => {});
    return result;
  }

  async get(threadId: string, namespace: string, checkpointId?: string): Promise<StoredCheckpoint | undefined> {
    this.operations.push('get');
    return (await this.list({ threadId, namespace, checkpointId, limit: 1 }))[0];
  }

  async list({ threadId, namespace, checkpointId, beforeCheckpointId, filter, limit }: CheckpointQuery) {
    return this.stored
      .filter(
        ({ key, metadataJson }) =>
          (threadId === undefined || key.threadId === threadId) &&
          (namespace === undefined || key.namespace === namespace) &&
          (checkpointId === undefined || key.checkpointId === checkpointId) &&
          (beforeCheckpointId === undefined || key.checkpointId < beforeCheckpointId) &&
          Object.entries(filter ?? {}).every(([name, value]) => metadataJson[name] === value),
      )
      .sort((a, b) => (a.key.checkpointId < b.key.checkpointId ? 1 : -1))
      .slice(0, limit)
      .map((stored) => ({
        ...stored,
        channelValues: [...stored.values].map(([channel, value]) => ({ channel, value })),
      }));
  }

  put(put: CheckpointPut): Promise<void> {
    this.operations.push('put');
    return this.#inOrder(() => this.#put(put));
  }

  async #put(put: CheckpointPut): Promise<void> {
    await this.beforePut(put);
    const parent = this.#find({ ...put.key, checkpointId: put.parentCheckpointId ?? '' });
    const values = new Map(parent?.values);
    for (const channel of values.keys()) if (!(channel in put.channelVersions)) values.delete(channel);
    for (const { channel, value } of put.blobs) {
      if (value) values.set(channel, copy(value));
      else values.delete(channel);
    }
    const { key, parentCheckpointId, metadataJson } = put;
    const [checkpoint, metadata] = [copy(put.checkpoint), copy(put.metadata)];
    const pendingWrites = this.#find(key)?.pendingWrites ?? [];
    this.stored.push({
      key,
      parentCheckpointId,
      checkpoint,
      metadata,
      metadataJson,
      values,
      pendingWrites,
      channelValues: [],
    });
  }

  putWrites(put: WritesPut): Promise<void> {
    this.operations.push('putWrites');
    return this.#inOrder(() => this.#putWrites(put));
  }

  async #putWrites(put: WritesPut): Promise<void> {
    await this.beforeWrites(put);
    const stored = this.#find(put.key);
    for (const { channel, value, index } of put.writes) {
      const pending = stored?.pendingWrites ?? [];
      const before = pending.findIndex((write) => write.taskId === put.taskId && write.channel === channel);
      if (before >= 0 && index < 0) pending.splice(before, 1);
      pending.push({ taskId: put.taskId, channel, value: copy(value) });
    }
  }

  async deleteThread(): Promise<void> {}

  #find(key: Stored['key']): Stored | undefined {
    return this.stored.find(
      (stored) =>
        stored.key.threadId === key.threadId &&
        stored.key.namespace === key.namespace &&
        stored.key.checkpointId === key.checkpointId,
    );
  }
}

/** The bytes belong to the message they came in. */
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
