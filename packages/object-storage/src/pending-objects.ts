import { UnavailableError } from '@runyard/service-kit';

/** A client of Prisma or one of its transactions, on a database with the table `object_removal`. */
export interface Queries {
  $executeRaw(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<number>;
  $queryRaw<Rows>(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<Rows>;
}

export interface DueObjects {
  /** Only these keys. Default: all. */
  keys?: readonly string[];
  /** Only keys after this one. Results are in the order of their keys. */
  after?: string;
  limit: number;
}

/**
 * Records pending objects, which have no owner. The key of an object is recorded from before its upload until the
 * transaction that gives it an owner, and again from the transaction that takes its owner away until it is removed. So
 * neither a killed process nor an unavailable storage leaves an unknown object. A key is used only once: an object that
 * lost its owner never gets another.
 */
export const pendingObjects = {
  /**
   * Records a key before its object is uploaded. Without an owner the object is removed after a day, which is longer
   * than any upload takes.
   */
  async record(queries: Queries, key: string): Promise<void> {
    await queries.$executeRaw`
      INSERT INTO object_removal (key, due_at) VALUES (${key}, now() + interval '25 hours')`;
  },

  /** Gives the objects an owner when this transaction commits. @throws UnavailableError when their removal has begun */
  async assignOwner(transaction: Queries, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const kept = await transaction.$executeRaw`
      DELETE FROM object_removal WHERE key = ANY(${[...keys]}::text[]) AND NOT is_begun`;
    if (kept === keys.length) return;
    throw new UnavailableError('What was written took too long to arrive, and is being removed.', {
      code: 'object_arrived_late',
    });
  },

  /** Takes the owner of these objects away when this transaction commits. */
  async removeOwner(transaction: Queries, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await transaction.$executeRaw`
      INSERT INTO object_removal (key) SELECT DISTINCT unnest(${[...keys]}::text[])
      ON CONFLICT (key) DO UPDATE SET due_at = excluded.due_at`;
  },

  /** Makes the objects due for removal. Objects that got an owner all the same are not affected. */
  async abandon(queries: Queries, keys: readonly string[]): Promise<void> {
    await queries.$executeRaw`UPDATE object_removal SET due_at = now() WHERE key = ANY(${[...keys]}::text[])`;
  },

  /** Begins the removal of objects that are due; they cannot get an owner any more. @returns their keys, in order */
  async beginRemoval(queries: Queries, { keys, after = '', limit }: DueObjects): Promise<string[]> {
    const wanted = keys ? [...keys] : null;
    const rows = await queries.$queryRaw<{ key: string }[]>`
      UPDATE object_removal SET is_begun = true WHERE key IN (
        SELECT key FROM object_removal
        WHERE due_at <= now() AND key > ${after} AND (${wanted}::text[] IS NULL OR key = ANY(${wanted}::text[]))
        ORDER BY key LIMIT ${limit} FOR UPDATE SKIP LOCKED)
      RETURNING key`;
    return rows.map(({ key }) => key).sort();
  },

  /** Deletes the records of removed objects. */
  async forget(queries: Queries, keys: readonly string[]): Promise<void> {
    await queries.$executeRaw`DELETE FROM object_removal WHERE key = ANY(${[...keys]}::text[])`;
  },
};
