import { UnavailableError } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';

export interface DueObjects {
  /** Of these alone. Default: of all. */
  keys?: readonly string[];
  /** In the order of their keys, after this one. */
  after?: string;
  limit: number;
}

/**
 * What is written down of objects that nobody has. The key of one is there from before the object is put until the transaction
 * that makes it somebody's, and again from the transaction that makes it nobody's until it is removed: neither a process that is
 * killed nor a storage that is away leaves an object that nobody knows of. Keys are used once: what is nobody's stays so.
 */
export const objectNotes = {
  /** Before it is put. When nobody has it after a day, longer than anything is on its way, it is removed. */
  async announce(queries: Queries, key: string): Promise<void> {
    await queries.$executeRaw`
      INSERT INTO object_removal (key, due_at) VALUES (${key}, now() + interval '25 hours')`;
  },

  /** Somebody has them from this transaction on. @throws UnavailableError when they are being removed already */
  async keep(transaction: Queries, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const kept = await transaction.$executeRaw`
      DELETE FROM object_removal WHERE key = ANY(${[...keys]}::text[]) AND NOT is_begun`;
    if (kept === keys.length) return;
    throw new UnavailableError('What was written took too long to arrive, and is being removed.');
  },

  /** Nobody has them from this transaction on. */
  async release(transaction: Queries, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await transaction.$executeRaw`
      INSERT INTO object_removal (key) SELECT DISTINCT unnest(${[...keys]}::text[])
      ON CONFLICT (key) DO UPDATE SET due_at = excluded.due_at`;
  },

  /** Whoever brought them gives them up. Those that somebody has all the same are not touched. */
  async abandon(queries: Queries, keys: readonly string[]): Promise<void> {
    await queries.$executeRaw`UPDATE object_removal SET due_at = now() WHERE key = ANY(${[...keys]}::text[])`;
  },

  /** Those that are due. From now on nobody can have them. @returns their keys, in order */
  async begin(queries: Queries, { keys, after = '', limit }: DueObjects): Promise<string[]> {
    const wanted = keys ? [...keys] : null;
    const rows = await queries.$queryRaw<{ key: string }[]>`
      UPDATE object_removal SET is_begun = true WHERE key IN (
        SELECT key FROM object_removal
        WHERE due_at <= now() AND key > ${after} AND (${wanted}::text[] IS NULL OR key = ANY(${wanted}::text[]))
        ORDER BY key LIMIT ${limit} FOR UPDATE SKIP LOCKED)
      RETURNING key`;
    return rows.map(({ key }) => key).sort();
  },

  /** They are removed. */
  async forget(queries: Queries, keys: readonly string[]): Promise<void> {
    await queries.$executeRaw`DELETE FROM object_removal WHERE key = ANY(${[...keys]}::text[])`;
  },
};
