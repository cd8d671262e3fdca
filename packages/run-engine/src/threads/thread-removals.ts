import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import { ThreadHeldError } from '../errors.ts';
import { dropUnkeptFences, lockFences } from '../locks.ts';
import { removalTime, removeInSteps } from './remove-in-steps.ts';

/** How long who wants the id of a deleted thread waits for what that has left. */
const WAIT_MS = 5_000;

/**
 * Removes what deleted threads have left, a part in each transaction. A row for each such thread says so, and its fence stays until
 * then: it refuses whoever still writes, and tells whoever wants the id that it is not free yet.
 */
export class ThreadRemovals {
  readonly #write: EngineWrites['write'];

  constructor(write: EngineWrites['write']) {
    this.#write = write;
  }

  /** Removes the next part of any thread; false when there is nothing that somebody else is not removing. */
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

  /** Removes all that a deleted thread of this id has left. @throws ThreadHeldError when that takes longer than a request may wait */
  async finish(threadId: string): Promise<void> {
    const until = performance.now() + WAIT_MS;
    while (await this.#write((client) => removePartOf(client, threadId))) {
      if (performance.now() >= until) throw new ThreadHeldError(threadId);
    }
  }

  /** Does what needs an id that is free; once more when it was not and could be made so. */
  async whenFree<T>(threadId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ThreadHeldError)) throw error;
      await this.finish(threadId);
      return work();
    }
  }
}

/** Notes that checkpoints of deleted threads are left, in the caller's transaction. Their fences are locked, and stay. */
export async function noteRemovals(client: pg.ClientBase, threadIds: string[]): Promise<void> {
  await client.query({
    name: 'engine_note_removals',
    text: 'INSERT INTO thread_removal (thread_id) SELECT unnest($1::uuid[]) ON CONFLICT DO NOTHING',
    values: [threadIds],
  });
}

/** @throws ThreadHeldError when one of these ids is not free yet */
export async function refuseWhileRemoved(client: pg.ClientBase, threadIds: string[]): Promise<void> {
  const { rows } = await client.query<{ thread_id: string }>({
    name: 'engine_removals_of',
    text: 'SELECT thread_id FROM thread_removal WHERE thread_id = ANY($1::uuid[]) LIMIT 1',
    values: [threadIds],
  });
  if (rows[0]) throw new ThreadHeldError(rows[0].thread_id);
}

/** Removes checkpoints of threads, of each kind of row so many at most; answers how many it found of the kind with most. */
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

/** False when nothing is left. Waits for whoever is removing another part. */
async function removePartOf(client: pg.ClientBase, threadId: string): Promise<boolean> {
  const { rows } = await client.query({
    name: 'engine_removal_of',
    text: 'SELECT 1 FROM thread_removal WHERE thread_id = $1 FOR UPDATE',
    values: [threadId],
  });
  if (rows.length > 0) await removePart(client, threadId);
  return rows.length > 0;
}

/** The row of the removal is locked. */
async function removePart(client: pg.ClientBase, threadId: string): Promise<void> {
  await lockFences(client, [threadId]);
  // A process of the release before gives the id away and removes what is left by itself.
  const taken = await client.query('SELECT 1 FROM thread WHERE thread_id = $1', [threadId]);
  const isFree = taken.rows.length === 0;
  if (isFree && !(await removeInSteps((limit) => removeCheckpointsOf(client, [threadId], limit), removalTime())))
    return;
  await client.query({
    name: 'engine_end_removal',
    text: 'DELETE FROM thread_removal WHERE thread_id = $1',
    values: [threadId],
  });
  await dropUnkeptFences(client, [threadId]);
}
