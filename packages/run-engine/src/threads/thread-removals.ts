import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import { ThreadHeldError } from '../errors.ts';
import { dropUnkeptFences, lockFences } from '../locks.ts';
import { removalDeadline, removeInSteps } from './remove-in-steps.ts';

/** Milliseconds that a creation waits until the remaining rows of a deleted thread with its id are removed. */
const WAIT_MS = 5_000;

/**
 * Removes the remaining rows of deleted threads, a part per transaction. A row marks each such thread, and its fence
 * stays until the end: it refuses late writers, and shows creators that the id is not free yet.
 */
export class ThreadRemovals {
  readonly #write: EngineWrites['write'];

  constructor(write: EngineWrites['write']) {
    this.#write = write;
  }

  /** Removes the next part of any thread; false when there is nothing that no other process is removing. */
  removeNext(): Promise<boolean> {
    return this.#write(async (client) => {
      const { rows } = await client.query<{ thread_id: string }>({
        name: 'engine_next_removal',
        text: 'SELECT thread_id FROM thread_removal ORDER BY since LIMIT 1 FOR UPDATE SKIP LOCKED',
      });
      if (!rows[0]) return false;
      await removePart(client, rows[0].thread_id);
      return true;
    });
  }

  /**
   * Removes all remaining rows of a deleted thread. @throws ThreadHeldError when that takes longer than a request may
   * wait
   */
  async finish(threadId: string): Promise<void> {
    const until = performance.now() + WAIT_MS;
    while (await this.#write((client) => removePartOf(client, threadId))) {
      if (performance.now() >= until) throw new ThreadHeldError(threadId);
    }
  }

  /** Runs `work`, which needs a free id. When the id is not free, frees it and runs `work` once more. */
  async withFreeId<T>(threadId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ThreadHeldError)) throw error;
      await this.finish(threadId);
      return work();
    }
  }
}

/**
 * Marks deleted threads that still have checkpoints, in the caller's transaction. Their fences are locked, and stay.
 */
export async function recordRemovals(client: pg.ClientBase, threadIds: string[]): Promise<void> {
  await client.query({
    name: 'engine_note_removals',
    text: 'INSERT INTO thread_removal (thread_id) SELECT unnest($1::uuid[]) ON CONFLICT DO NOTHING',
    values: [threadIds],
  });
}

/** @throws ThreadHeldError when one of these ids is not free yet */
export async function refuseUnfinishedRemovals(client: pg.ClientBase, threadIds: string[]): Promise<void> {
  const { rows } = await client.query<{ thread_id: string }>({
    name: 'engine_removals_of',
    text: 'SELECT thread_id FROM thread_removal WHERE thread_id = ANY($1::uuid[]) LIMIT 1',
    values: [threadIds],
  });
  if (rows[0]) throw new ThreadHeldError(rows[0].thread_id);
}

/**
 * Removes checkpoints of threads, up to `limit` of each kind of row; returns how many it found of the most frequent
 * kind.
 */
export async function removeCheckpointsOf(client: pg.ClientBase, threadIds: string[], limit: number): Promise<number> {
  const { rows } = await client.query<{ removed: number }>({
    name: 'engine_remove_checkpoints_of_threads',
    text: `WITH writes AS (${removalFrom('checkpoint_write')}), replaced AS (${removalFrom('checkpoint_write_replaced')}),
                blobs AS (${removalFrom('checkpoint_blob')}), checkpoints AS (${removalFrom('checkpoint')})
           SELECT greatest((SELECT count(*) FROM writes), (SELECT count(*) FROM replaced), (SELECT count(*) FROM blobs),
                           (SELECT count(*) FROM checkpoints))::integer AS removed`,
    values: [threadIds, limit],
  });
  return rows[0]!.removed;
}

function removalFrom(table: string): string {
  return `DELETE FROM ${table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE thread_id = ANY($1::uuid[]) LIMIT $2))
          RETURNING 1`;
}

/** Returns false when nothing is left. Waits while another process removes a part. */
async function removePartOf(client: pg.ClientBase, threadId: string): Promise<boolean> {
  const { rows } = await client.query({
    name: 'engine_removal_of',
    text: 'SELECT 1 FROM thread_removal WHERE thread_id = $1 FOR UPDATE',
    values: [threadId],
  });
  if (rows.length > 0) await removePart(client, threadId);
  return rows.length > 0;
}

/** Removes the next part. The removal's row is locked. */
async function removePart(client: pg.ClientBase, threadId: string): Promise<void> {
  await lockFences(client, [threadId]);
  // A process of the previous release reuses the id and removes the remaining rows itself.
  const taken = await client.query('SELECT 1 FROM thread WHERE thread_id = $1', [threadId]);
  const isFree = taken.rows.length === 0;
  if (isFree && !(await removeInSteps((limit) => removeCheckpointsOf(client, [threadId], limit), removalDeadline())))
    return;
  await client.query({
    name: 'engine_end_removal',
    text: 'DELETE FROM thread_removal WHERE thread_id = $1',
    values: [threadId],
  });
  await dropUnkeptFences(client, [threadId]);
}
