import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { isRetryable } from './sql-errors.ts';

export interface TransactionOptions {
  /**
   * Maximum number of times that the whole transaction runs when it meets a deadlock (40P01) or a serialization failure
   * (40001). Above 1 the work must be safe to repeat. Default 1.
   */
  attempts?: number;
  isolation?: 'read committed' | 'repeatable read' | 'serializable';
  /**
   * True when the commit waits for the disk. False only for changes whose loss in a crash of the server is harmless.
   * Default true.
   */
  waitForDisk?: boolean;
  /**
   * Milliseconds for which each of its statements waits for a lock (then 55P03). Default: as long as the statement may
   * take.
   */
  lockTimeoutMs?: number;
  /**
   * True when each of its prepared statements is planned once, for any values. For statements over lists, whose plans
   * Postgres would make anew for each length. Default false.
   */
  genericPlans?: boolean;
}

/**
 * Runs the work in a transaction on one connection: commits when it returns, rolls back when it throws. An error of
 * COMMIT itself is thrown too; after a lost connection nobody knows whether the transaction took effect.
 */
export async function withTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  return repeatDeadlocks(options.attempts ?? 1, () => runOnce(pool, work, options));
}

/**
 * Repeats statements that commit by themselves, or a transaction, when they meet a deadlock (40P01) or a serialization
 * failure (40001), which have undone them. Only one layer may do so: two multiply their tries.
 */
export async function repeatDeadlocks<T>(attempts: number, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attempts || !isRetryable(error)) throw error;
      // The random pause keeps transactions from colliding again at once.
      await pause(Math.random() * 10 * 2 ** attempt);
    }
  }
}

async function runOnce<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(beginStatement(options));
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    broken = await rollBack(client);
    throw error;
  } finally {
    // A connection that cannot even roll back is closed.
    client.release(broken);
  }
}

/** The settings are sent with BEGIN: they cost no round trip. */
function beginStatement({ isolation, waitForDisk, lockTimeoutMs, genericPlans }: TransactionOptions): string {
  const statements = [isolation ? `BEGIN ISOLATION LEVEL ${isolation.toUpperCase()}` : 'BEGIN'];
  if (waitForDisk === false) statements.push('SET LOCAL synchronous_commit = off');
  // Postgres treats 0 as no limit.
  if (lockTimeoutMs !== undefined) statements.push(`SET LOCAL lock_timeout = ${Math.max(1, Math.ceil(lockTimeoutMs))}`);
  if (genericPlans) statements.push('SET LOCAL plan_cache_mode = force_generic_plan');
  return statements.join('; ');
}

async function rollBack(client: pg.PoolClient): Promise<Error | undefined> {
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
