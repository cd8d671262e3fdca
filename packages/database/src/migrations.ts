import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ErrorCode } from '@runyard/contracts';
import pg from 'pg';
import { type Migration, matchesChecksum, readMigrations } from './migration-files.ts';
import { isPooled } from './pooled-client.ts';
import { sqlState } from './sql-errors.ts';
import { splitStatements } from './sql-statements.ts';

/**
 * Applies the migrations of a folder in Prisma's layout and maintains `_prisma_migrations` like Prisma's own engine, so
 * that both can be used on the same database.
 *
 * It is safe with any number of processes at once: one applies, the others wait. Each migration is one transaction
 * together with its row, so a failed one leaves nothing behind. A script with the line `-- runyard: no transaction` is
 * run statement by statement; it must be safe to repeat, because what it did before a failure stays.
 */
export async function applyMigrations(
  database: pg.Pool | string,
  directory: string,
): Promise<{ /** Names of the migrations that this call applied. */ applied: string[] }> {
  const migrations = await readMigrations(directory);
  if (typeof database !== 'string') return applyAll(database, migrations);
  const pool = new pg.Pool({ connectionString: database, max: 2, application_name: 'runyard-migrations' });
  pool.on('error', () => undefined);
  try {
    return await applyAll(pool, migrations);
  } finally {
    await pool.end();
  }
}

/** The database and the folder do not match, or a script failed. Nothing after the named migration was applied. */
class MigrationError extends Error {
  readonly code = 'migration_failed' satisfies ErrorCode;
  readonly migration: string;
  constructor(migration: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationError';
    this.migration = migration;
  }
}

/** Prisma's engine takes the same lock. */
const LOCK_KEY = 72707369;
/** Scripts of pg_dump empty the search path. */
const RESET_SEARCH_PATH = 'RESET search_path';
const TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id                  VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum            VARCHAR(64) NOT NULL,
  finished_at         TIMESTAMPTZ,
  migration_name      VARCHAR(255) NOT NULL,
  logs                TEXT,
  rolled_back_at      TIMESTAMPTZ,
  started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

async function applyAll(pool: pg.Pool, migrations: Migration[]): Promise<{ applied: string[] }> {
  const applied: string[] = [];
  // A usual start finds everything applied and takes no lock.
  if ((await findPending(pool, migrations)).length === 0) return { applied };
  // The table is committed first, because a migration outside the lock's transaction writes to it too.
  await withMigrationLock(pool, (client) => client.query(`SET LOCAL client_min_messages = warning; ${TABLE}`));
  for (;;) {
    const next = await withMigrationLock(pool, async (lockedClient) => {
      const [migration] = await findPending(lockedClient, migrations);
      if (!migration) return undefined;
      await (migration.inTransaction ? applyInTransaction(lockedClient, migration) : applyByStatement(pool, migration));
      return migration;
    });
    if (!next) return { applied };
    applied.push(next.name);
  }
}

/** Returns the migrations still to apply, in order. Throws when an applied one differs from the one in the folder. */
async function findPending(db: pg.Pool | pg.ClientBase, migrations: Migration[]): Promise<Migration[]> {
  const { rows } = await db
    .query<{ migration_name: string; checksum: string; finished_at: Date | null }>(
      `SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
    )
    .catch((error: unknown) => {
      if (sqlState(error) === '42P01') return { rows: [] };
      throw error;
    });
  const byName = new Map(rows.map((row) => [row.migration_name, row]));
  return migrations.filter((migration) => {
    const row = byName.get(migration.name);
    if (!row) return true;
    if (row.finished_at === null) {
      // Scripts of this project are repeatable by contract; a script of Prisma's own engine that stopped half way needs
      // a person.
      if (!migration.inTransaction) return true;
      throw new MigrationError(
        migration.name,
        `The migration ${migration.name} was started and never finished. Repair the database, then mark its row in _prisma_migrations as finished or rolled back.`,
      );
    }
    if (!matchesChecksum(migration, row.checksum)) {
      throw new MigrationError(
        migration.name,
        `The migration ${migration.name} was changed after it had been applied to this database. Restore the file and put the change into a new migration.`,
      );
    }
    return false;
  });
}

/**
 * Runs the work in a transaction that holds the lock. It polls for the lock instead of waiting in the database, because
 * a waiting statement holds a snapshot, and `CREATE INDEX CONCURRENTLY` in the process with the lock would wait for
 * that.
 */
async function withMigrationLock<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    for (;;) {
      await client.query('BEGIN');
      // A migration may take long and wait for locks, and while another connection works this transaction is idle.
      await client.query(
        'SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0',
      );
      const { rows } = await client.query(`SELECT pg_try_advisory_xact_lock(${LOCK_KEY}) AS taken`);
      if (rows[0].taken) break;
      await client.query('ROLLBACK');
      await pause(20 + Math.random() * 60);
    }
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } finally {
    // The connection is closed, which also rolls back: a script may have changed its settings.
    client.release(true);
  }
}

async function applyInTransaction(client: pg.PoolClient, migration: Migration): Promise<void> {
  try {
    await client.query(migration.sql);
  } catch (error) {
    throw migrationFailure(migration, error);
  }
  await client.query(RESET_SEARCH_PATH);
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
    [randomUUID(), migration.checksum, migration.name],
  );
}

/** Runs the script on another connection, while the caller's transaction keeps the lock. */
async function applyByStatement(pool: pg.Pool, migration: Migration): Promise<void> {
  if (pool.options.max < 2) throw new MigrationError(migration.name, 'Applying it takes a pool of two connections.');
  const client = await pool.connect();
  try {
    await client.query(
      `UPDATE _prisma_migrations SET rolled_back_at = now()
       WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
      [migration.name],
    );
    const id = randomUUID();
    await client.query('INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)', [
      id,
      migration.checksum,
      migration.name,
    ]);
    // A pooler gives the session to others afterwards, and has ignored our limits.
    if (!(await isPooled(client))) await client.query('SET statement_timeout = 0; SET lock_timeout = 0');
    for (const statement of splitStatements(migration.sql)) {
      try {
        await client.query(statement);
      } catch (error) {
        await client.query(RESET_SEARCH_PATH);
        await client.query('UPDATE _prisma_migrations SET logs = $2 WHERE id = $1', [id, String(error)]);
        throw migrationFailure(migration, error);
      }
    }
    await client.query(RESET_SEARCH_PATH);
    await client.query(
      'UPDATE _prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1 WHERE id = $1',
      [id],
    );
  } finally {
    client.release(true);
  }
}

function migrationFailure(migration: Migration, cause: unknown): MigrationError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MigrationError(migration.name, `The migration ${migration.name} failed: ${reason}`, { cause });
}
