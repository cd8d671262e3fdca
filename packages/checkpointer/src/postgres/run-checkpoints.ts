import type { GroupCommitter } from '@runyard/database';
import type { Fence } from '@runyard/run-engine';
import {
  BackendError,
  type ChannelHistory,
  type CheckpointBackend,
  type CheckpointKey,
  type CheckpointPut,
  type CheckpointQuery,
  type StoredCheckpoint,
  type WritesPut,
} from '../backend.ts';
import { toBackendError } from './backend-errors.ts';
import { type CheckpointBlobs, type CheckpointOperation, sizeOf, type Writer } from './checkpoint-operation.ts';
import type { CheckpointReader, ReadCheckpoint } from './checkpoint-reader.ts';
import { PartSize } from './delete-parts.ts';
import { searchableMetadata } from './searchable-metadata.ts';

/**
 * The largest value that can be read back: it arrives as hexadecimal text, and Node makes no text above half a
 * gibibyte.
 */
const OPERATION_BYTES_MAX = 250 * 1024 * 1024;
const CHECKPOINTS_KEPT = 64;

/**
 * The checkpoints of the owner of one fence. Its operations become durable in the order they were called; after the
 * first failure all later ones fail. Reads may be of any thread.
 */
export class RunCheckpoints implements CheckpointBackend, Writer {
  readonly fence: Fence;
  failure: BackendError | undefined;
  readonly #reader: CheckpointReader;
  readonly #committer: GroupCommitter<CheckpointOperation, undefined>;
  /** Blobs of the checkpoints read or put last, so that a put need not read its parent. */
  readonly #blobs = new Map<string, CheckpointBlobs>();
  readonly #mark: string | undefined;
  /** Set while operations wait for room in the committer, so that none overtakes another. */
  #admission: Promise<unknown> | undefined;

  /** @param mark see `PostgresCheckpoints.forRun` */
  constructor(
    fence: Fence,
    reader: CheckpointReader,
    committer: GroupCommitter<CheckpointOperation, undefined>,
    mark?: string,
  ) {
    this.fence = fence;
    this.#mark = mark;
    this.#reader = reader;
    this.#committer = committer;
  }

  async get(threadId: string, namespace: string, checkpointId?: string): Promise<StoredCheckpoint | undefined> {
    const read = await this.#reader.get(threadId, namespace, checkpointId, this.fence.runId);
    if (read) this.#rememberRead(read);
    return read?.stored;
  }

  async list(query: CheckpointQuery): Promise<StoredCheckpoint[]> {
    const all = await this.#reader.list(query, this.fence.runId);
    for (const read of all) this.#rememberRead(read);
    return all.map(({ stored }) => stored);
  }

  forgetBlobs(): void {
    this.#blobs.clear();
  }

  channelHistories(key: CheckpointKey, channels: string[]): Promise<ChannelHistory[]> {
    return this.#reader.channelHistories(key, channels);
  }

  async put(put: CheckpointPut): Promise<void> {
    this.#checkThread(put.key.threadId);
    const own: CheckpointBlobs = {};
    const { parentCheckpointId } = put;
    const parent =
      parentCheckpointId === undefined
        ? undefined
        : (this.#blobs.get(nameOf({ ...put.key, checkpointId: parentCheckpointId })) ?? 'stored');
    this.#remember(put.key, own);
    // Clients do not see the mark in what is searched.
    const searchable = searchableMetadata(put, this.#mark === undefined ? undefined : toMarkFilter(this.#mark));
    await this.#submit({ kind: 'put', writer: this, put, searchable, own, parent });
  }

  async putWrites(put: WritesPut): Promise<void> {
    this.#checkThread(put.key.threadId);
    if (put.writes.length > 0) await this.#submit({ kind: 'writes', writer: this, put });
  }

  async deleteThread(threadId: string): Promise<void> {
    this.#checkThread(threadId);
    this.#blobs.clear();
    if (this.failure) throw this.failure;
    await this.#admit(() => this.#deleteParts());
  }

  /**
   * Deletes the thread in parts, each in its own transaction under the fence, so that nobody who takes over a long
   * thread waits.
   */
  async #deleteParts(): Promise<undefined> {
    const size = new PartSize();
    const own: { hasMore?: boolean } = {};
    do {
      await this.#untilRoom();
      const begun = performance.now();
      await this.#commit({ kind: 'deleteThread', writer: this, rowsMax: size.rowsMax, own });
      size.adjust(performance.now() - begun);
    } while (own.hasMore);
  }

  #submit(operation: CheckpointOperation): Promise<undefined> {
    const isTooLarge = sizeOf(operation) > OPERATION_BYTES_MAX;
    if (isTooLarge) this.failure ??= new BackendError('too_large', 'The state is too large to be stored.');
    if (this.failure) return Promise.reject(this.failure);
    if (!this.#admission && this.#committer.hasRoom) return this.#commit(operation);
    return this.#admit(async () => {
      await this.#untilRoom();
      return { committed: this.#commit(operation) };
    }).then(({ committed }) => committed);
  }

  async #untilRoom(): Promise<void> {
    while (!this.#committer.hasRoom) await this.#committer.waitForRoom();
  }

  /** Runs work that later operations wait for. */
  #admit<T>(work: () => Promise<T>): Promise<T> {
    const admitted = (this.#admission ?? Promise.resolve()).then(work);
    const admission = admitted.then(
      () => undefined,
      () => undefined,
    );
    this.#admission = admission;
    void admission.then(() => {
      if (this.#admission === admission) this.#admission = undefined;
    });
    return admitted;
  }

  async #commit(operation: CheckpointOperation): Promise<undefined> {
    try {
      return await this.#committer.submit(operation);
    } catch (error) {
      this.failure ??= toBackendError(error);
      throw this.failure;
    }
  }

  #checkThread(threadId: string): void {
    if (threadId.toLowerCase() !== this.fence.threadId.toLowerCase()) {
      throw new BackendError('invalid', `A run writes the checkpoints of its own thread only, not of ${threadId}.`);
    }
  }

  #rememberRead({ stored, blobs }: ReadCheckpoint): void {
    if (stored.key.threadId === this.fence.threadId) this.#remember(stored.key, { blobs });
  }

  #remember(key: CheckpointKey, blobs: CheckpointBlobs): void {
    const name = nameOf(key);
    this.#blobs.delete(name);
    this.#blobs.set(name, blobs);
    if (this.#blobs.size <= CHECKPOINTS_KEPT) return;
    const oldest = this.#blobs.keys().next();
    if (!oldest.done) this.#blobs.delete(oldest.value);
  }
}

/** Returns the filter that finds checkpoints with this mark. */
export function toMarkFilter(mark: string): Record<string, unknown> {
  return { __runyard_mark: mark };
}

function nameOf({ namespace, checkpointId }: CheckpointKey): string {
  return JSON.stringify([namespace, checkpointId]);
}
