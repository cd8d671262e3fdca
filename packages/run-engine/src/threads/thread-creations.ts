import { GroupCommitter, isLockTimeout } from '@runyard/database';
import type { DataCipher } from '@runyard/encryption';
import type { EngineWrites } from '../engine-writes.ts';
import type { KeyedThread } from '../types.ts';
import { createThread } from './create-thread.ts';
import { createUnusedThreads } from './create-threads.ts';
import { type EncodedThread, encodeThread } from './encode-thread.ts';
import { decryptThread, encryptThread } from './thread-encryption.ts';
import type { ThreadRemovals } from './thread-removals.ts';
import type { CreatedThread, CreateThread, ThreadRecord, ThreadTtl } from './types.ts';
import { underKey } from './under-key.ts';

/** Milliseconds that a common transaction waits for an id that another one is about to take. */
const LOCK_WAIT_MS = 100;

export interface ThreadCreationsOptions {
  write: EngineWrites['write'];
  removals: ThreadRemovals;
  cipher: DataCipher;
  /** The ttl of threads without their own. */
  threadTtl: ThreadTtl | undefined;
}

/**
 * Creates threads; those that are asked for at about the same time share a transaction. A thread whose id was used
 * before, and one that is bound to an idempotency key, has one of its own.
 */
export class ThreadCreations {
  readonly #options: ThreadCreationsOptions;
  readonly #together: GroupCommitter<EncodedThread, ThreadRecord | undefined>;

  constructor(options: ThreadCreationsOptions) {
    const { write } = options;
    this.#options = options;
    this.#together = new GroupCommitter({
      name: 'create threads',
      // One that has to wait for longer than the others may does so alone, and so does each beside it.
      flush: (batch) =>
        write((client) => createUnusedThreads(client, batch), { lockTimeoutMs: LOCK_WAIT_MS }).catch((error) => {
          if (isLockTimeout(error)) return batch.map(() => undefined);
          throw error;
        }),
      keyOf: ({ threadId }) => threadId,
      maxItemsPerKey: 1,
      sizeOf: ({ metadata, config }) => metadata.length + config.length,
    });
  }

  /** Throws ConflictError when the thread exists and `ifExists` is `raise`, KeyTakenError, EncryptionUnavailableError. */
  async create(thread: CreateThread, keyed?: KeyedThread): Promise<CreatedThread> {
    const { cipher, threadTtl } = this.#options;
    const stored = await encryptThread(cipher, thread);
    const made = keyed
      ? undefined
      : await this.#together.submit(encodeThread({ ...stored, status: 'idle' }, threadTtl));
    const created = made ? { ...made, isNew: true } : await this.#createAlone(stored, keyed);
    return decryptThread(cipher, created);
  }

  /** Resolves when everything submitted is settled. */
  close(): Promise<void> {
    return this.#together.close();
  }

  #createAlone(thread: CreateThread, keyed: KeyedThread | undefined): Promise<CreatedThread> {
    const { write, removals, threadTtl } = this.#options;
    return removals.withFreeId(thread.threadId, () =>
      write((client) => underKey(client, keyed, () => createThread(client, thread, threadTtl))),
    );
  }
}
