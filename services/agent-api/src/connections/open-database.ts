import { fileURLToPath } from 'node:url';
import { applyMigrations, checkPooler, openPool, retryStartStep } from '@runyard/database';
import type { DataCipher } from '@runyard/encryption';
import type { ServiceContext } from '@runyard/service-kit';
import type pg from 'pg';
import type { Config } from '../config.ts';
import { openPrisma, type PrismaClient } from './prisma.ts';

/** The migrations lie beside this file in a bundle, and in source with the package whose tables they make. */
const migrationsDir = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../../../../packages/run-engine/prisma/migrations' : './migrations',
    import.meta.url,
  ),
);

/** Milliseconds that a request waits for a locked row, as long as the run engine waits at most. */
const LOCK_WAIT_MS = 5_000;

/** Opens the database of the deployment and migrates it to the tables of this version. */
export async function openDatabase(
  config: Config,
  context: ServiceContext,
  cipher: DataCipher,
): Promise<{ pool: pg.Pool; prisma: PrismaClient }> {
  const { logger, lifecycle } = context;
  const pool = openPool({
    connectionString: config.DATABASE_URI,
    max: config.DATABASE_POOL_SIZE,
    min: config.DATABASE_POOL_MIN_SIZE,
    connectTimeoutMs: config.DATABASE_POOL_TIMEOUT_SECONDS * 1000,
    applicationName: 'runyard-agent-api',
    preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
    lockTimeoutMs: LOCK_WAIT_MS,
    ...(cipher.needsKeys && { beforeRows: (rows: unknown[]) => cipher.loadKeys(rows) }),
    onConnectionLost: (error) => logger.warn('Postgres connection lost', { error }),
  });
  lifecycle.onStop('database', () => pool.end());
  await retryStartStep(() => checkPooler(pool), context);
  await retryStartStep(() => applyMigrations(pool, migrationsDir), context);
  const prisma = openPrisma(pool);
  lifecycle.onStop('prisma', () => prisma.$disconnect());
  return { pool, prisma };
}
