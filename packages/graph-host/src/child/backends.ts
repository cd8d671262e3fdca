/** Checkpoints and store of one use, asked of the parent. */
import {
  BackendError,
  type CheckpointBackend,
  type CheckpointPut,
  type CheckpointQuery,
  type StoreBackend,
  type StoredCheckpoint,
  type StoreOperation,
  type StoreResult,
  type WritesPut,
} from '@runyard/checkpointer';
import { type Answer, type Connection, RemoteError } from '../protocol/connection.ts';
import { packPut, packWrites, type StoredDocument, unpackStored } from '../protocol/values.ts';

const REASONS: ReadonlySet<string> = new Set(['fenced', 'unavailable', 'too_large', 'invalid']);

export class RemoteCheckpoints implements CheckpointBackend {
  readonly #connection: Connection;
  readonly #use: number;
  readonly #beforePut: () => void;
  /** The newest checkpoint of the root graph that this use read or wrote. */
  lastRootCheckpointId: string | null = null;

  /** @param beforePut called before a checkpoint is sent: what is sent after it waits until it is durable */
  constructor(connection: Connection, use: number, beforePut: () => void = () => {}) {
    this.#connection = connection;
    this.#use = use;
    this.#beforePut = beforePut;
  }

  async get(threadId: string, namespace: string, checkpointId?: string): Promise<StoredCheckpoint | undefined> {
    const answer = await this.#ask({ t: 'checkpoint.get', threadId, namespace, checkpointId });
    const stored = unpackStored(answer.ok as StoredDocument[], answer.raw)[0];
    if (namespace === '' && this.lastRootCheckpointId === null) {
      this.lastRootCheckpointId = stored?.key.checkpointId ?? null;
    }
    return stored;
  }

  async list(query: CheckpointQuery): Promise<StoredCheckpoint[]> {
    const answer = await this.#ask({ t: 'checkpoint.list', query });
    return unpackStored(answer.ok as StoredDocument[], answer.raw);
  }

  async put(put: CheckpointPut): Promise<void> {
    const { document, parts } = packPut(put);
    if (put.key.namespace === '') this.lastRootCheckpointId = put.key.checkpointId;
    this.#beforePut();
    await this.#ask({ t: 'checkpoint.put', put: document }, parts);
  }

  async putWrites(put: WritesPut): Promise<void> {
    const { document, parts } = packWrites(put);
    await this.#ask({ t: 'checkpoint.putWrites', put: document }, parts);
  }

  async deleteThread(threadId: string): Promise<void> {
    await this.#ask({ t: 'checkpoint.deleteThread', threadId });
  }

  async #ask(header: Record<string, unknown>, raw?: Uint8Array[]): Promise<Answer> {
    try {
      return await this.#connection.request(this.#use, { ...header, use: this.#use }, raw);
    } catch (error) {
      throw asBackendError(error);
    }
  }
}

export class RemoteStore implements StoreBackend {
  readonly #connection: Connection;
  readonly #use: number;

  constructor(connection: Connection, use: number) {
    this.#connection = connection;
    this.#use = use;
  }

  async batch(operations: StoreOperation[]): Promise<StoreResult[]> {
    try {
      const answer = await this.#connection.request(this.#use, { t: 'store.batch', use: this.#use, operations });
      return answer.ok as StoreResult[];
    } catch (error) {
      throw asBackendError(error);
    }
  }
}

function asBackendError(error: unknown): unknown {
  if (!(error instanceof RemoteError)) return error;
  const reason = REASONS.has(error.kind) ? (error.kind as BackendError['reason']) : 'unavailable';
  return new BackendError(reason, error.message, { cause: error });
}
