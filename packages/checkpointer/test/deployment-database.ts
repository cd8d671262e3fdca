import { randomUUID } from 'node:crypto';
import { openPool } from '@runyard/database';
import type { Fence } from '@runyard/run-engine';
import { createTestDatabase } from '@runyard/test-kit';
import type pg from 'pg';
import { PostgresCheckpoints } from '../src/index.ts';

/** A fresh database of a deployment with a pool, for tests. */
export interface DeploymentDatabase {
  url: string;
  pool: pg.Pool;
  /** Opens another pool, like another process. */
  openPool(): pg.Pool;
  close(): Promise<void>;
}

/** The migrations folder of a deployment's database. */
export const MIGRATIONS = new URL('../../run-engine/prisma/migrations', import.meta.url).pathname;

export async function openDeploymentDatabase(): Promise<DeploymentDatabase> {
  const database = await createTestDatabase(MIGRATIONS);
  const pools: pg.Pool[] = [];
  const open = () => {
    const pool = openPool({ connectionString: database.url, max: 6, applicationName: 'checkpointer-test' });
    pools.push(pool);
    return pool;
  };
  return {
    url: database.url,
    pool: open(),
    openPool: open,
    async close() {
      await Promise.all(pools.filter((pool) => !pool.ended).map((pool) => pool.end()));
      await database.close();
    },
  };
}

/** Takes a thread over like a claim: with an epoch above every earlier owner's. */
export async function takeOver(
  pool: pg.Pool | pg.PoolClient,
  { threadId = randomUUID(), runId = randomUUID() }: { threadId?: string; runId?: string | null } = {},
): Promise<Fence> {
  const { rows } = await pool.query<{ epoch: string }>(
    `INSERT INTO thread_fence (thread_id, epoch, run_id) VALUES ($1, 1, $2)
     ON CONFLICT (thread_id) DO UPDATE SET epoch = thread_fence.epoch + 1, run_id = excluded.run_id RETURNING epoch`,
    [threadId, runId],
  );
  return { threadId, epoch: BigInt(rows[0]?.epoch ?? 0), runId };
}

export function openCheckpoints(pool: pg.Pool): PostgresCheckpoints {
  return new PostgresCheckpoints({ pool });
}
