import { toSqlText } from '@runyard/database';
import { type DataCipher, NO_ENCRYPTION } from '@runyard/encryption';
import { ConflictError } from '@runyard/service-kit';
import type pg from 'pg';
import { FencedError } from '../errors.ts';
import { lockFences, NEXT_EPOCH } from '../locks.ts';
import type { Fence, KeyedThread } from '../types.ts';
import { insertThread, threadExistsError } from './create-thread.ts';
import { removeLeftovers } from './leftovers.ts';
import { encryptThreadState } from './state-encryption.ts';
import { decryptThread, encryptThread } from './thread-encryption.ts';
import type { ThreadRemovals } from './thread-removals.ts';
import type { CompleteDraft, ThreadRecord, ThreadTtl } from './types.ts';
import { bindKey } from './under-key.ts';

export interface ThreadDraftsOptions {
  write: <T>(work: (client: pg.PoolClient) => Promise<T>) => Promise<T>;
  removals: ThreadRemovals;
  /** The ttl of threads created without their own. */
  threadTtl?: ThreadTtl | undefined;
  cipher?: DataCipher | undefined;
}

/**
 * Creates threads that have a state before anybody sees them. A draft is a fence without a thread: its checkpoints are
 * written under it, and one transaction creates the thread with its state. When the process of a draft dies, nobody
 * owns it: the next user of its id starts over, and the sweep of rows without a thread removes the rest.
 */
export class ThreadDrafts {
  readonly #options: ThreadDraftsOptions;

  constructor(options: ThreadDraftsOptions) {
    this.#options = options;
  }

  /**
   * Throws ConflictError when there is a thread with that id, or a run that uses it. Takes the id from an earlier
   * draft.
   */
  begin(threadId: string): Promise<Fence> {
    const { write, removals } = this.#options;
    return removals.withFreeId(threadId, () => write((client) => beginDraft(client, threadId)));
  }

  /**
   * Creates the thread with its state, and binds the idempotency key that was claimed for it. Throws ConflictError when
   * another process took the id meanwhile, KeyTakenError, EncryptionUnavailableError.
   */
  async complete(draft: CompleteDraft, keyed?: KeyedThread): Promise<ThreadRecord> {
    const { write, threadTtl, cipher = NO_ENCRYPTION } = this.#options;
    const stored = { ...encryptThreadState(cipher, draft), thread: await encryptThread(cipher, draft.thread) };
    return write(async (client) => {
      const made = await completeDraft(client, stored, threadTtl);
      if (keyed) await bindKey(client, keyed);
      return decryptThread(cipher, made);
    });
  }

  /** Removes everything of a draft that will not become a thread. */
  discard(fence: Fence): Promise<void> {
    return this.#options.write((client) => discardDraft(client, fence));
  }
}

async function beginDraft(client: pg.ClientBase, threadId: string): Promise<Fence> {
  const { rows } = await client.query<{ epoch: string }>({
    name: 'engine_begin_draft',
    // An epoch is also a time: it gives the age of a draft that nobody completed.
    text: `INSERT INTO thread_fence AS f (thread_id, epoch)
           VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
           ON CONFLICT (thread_id) DO UPDATE SET epoch = ${NEXT_EPOCH} RETURNING epoch`,
    values: [threadId],
  });
  // This check runs under the fence's lock, which every creation of a thread takes too.
  const taken = await client.query({
    name: 'engine_is_thread_id_taken',
    text: `SELECT 1 FROM thread WHERE thread_id = $1
           UNION ALL SELECT 1 FROM run WHERE thread_id = $1 AND status = 'running'
           UNION ALL SELECT 1 FROM run WHERE thread_id = $1 AND status = 'pending'`,
    values: [threadId],
  });
  if (taken.rows.length > 0) throw threadExistsError(threadId);
  await removeLeftovers(client, [threadId]);
  return { threadId, epoch: BigInt(rows[0]!.epoch), runId: null };
}

async function completeDraft(
  client: pg.ClientBase,
  { fence, thread, values, interrupts, checkpointId, status }: CompleteDraft,
  threadTtl: ThreadTtl | undefined,
): Promise<ThreadRecord> {
  const { threadId, epoch } = fence;
  const made = await insertThread(client, { ...thread, threadId, status }, threadTtl);
  if (!made) throw threadExistsError(threadId);
  const epochs = await lockFences(client, [threadId]);
  if (epochs.get(threadId) !== epoch) {
    throw new ConflictError(`Thread with ID ${threadId} already exists`, {
      code: 'thread_exists',
      cause: new FencedError(threadId, epoch),
    });
  }
  await client.query({
    name: 'engine_insert_thread_state',
    text: 'INSERT INTO thread_state (thread_id, "values", interrupts, checkpoint_id) VALUES ($1, $2, $3, $4)',
    values: [threadId, values && Buffer.from(values), interrupts && Buffer.from(interrupts), toSqlText(checkpointId)],
  });
  return made;
}

async function discardDraft(client: pg.ClientBase, { threadId, epoch }: Fence): Promise<void> {
  const epochs = await lockFences(client, [threadId]);
  // Another draft has taken this id: its rows must stay.
  if (epochs.get(threadId) !== epoch) return;
  const thread = await client.query('SELECT 1 FROM thread WHERE thread_id = $1', [threadId]);
  if (thread.rows.length > 0) return;
  await removeLeftovers(client, [threadId]);
  await client.query('DELETE FROM thread_fence WHERE thread_id = $1', [threadId]);
}
