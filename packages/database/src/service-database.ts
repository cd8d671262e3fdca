import type pg from 'pg';
import { checkPooler } from './check-pooler.ts';
import { applyMigrations } from './migrations.ts';
import { openPool } from './pool.ts';

/** On a busy machine a transaction may wait for its turn; it must not time out before the caller would. */
const TRANSACTION_OPTIONS = { maxWait: 10_000, timeout: 20_000 };

/** A caller behind the gateway gets an error before it would time out. */
const CONNECT_TIMEOUT_MS = 5_000;

/** The part of a generated Prisma client that this package uses: every service generates its own. */
export interface TransactionalClient<Transaction> {
  $transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  $disconnect(): Promise<void>;
}

/** The database of one service, with its Prisma client and a pool. */
export interface ServiceDatabase<Client, Transaction> {
  prisma: Client;
  /** The pool that Prisma uses too: for work that Prisma cannot do, such as relaying the outbox. */
  pool: pg.Pool;
  /** Runs a transaction that writes events, and calls `onCommit` after its commit. */
  transact<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  onCommit(listener: () => void): void;
  close(): Promise<void>;
}

export interface ServiceDatabaseOptions<Client> {
  connectionString: string;
  poolSize: number;
  migrationsDir: string;
  /** Name of the connections in Postgres. */
  applicationName: string;
  /** See `PoolOptions`. */
  preparedStatements?: boolean;
  /** Creates the service's own Prisma client on these connections. */
  connect(pool: pg.Pool, transactionOptions: { maxWait: number; timeout: number }): Client;
}

/** Opens a service's database after migrating its schema. */
export async function openServiceDatabase<Client extends TransactionalClient<Transaction>, Transaction>(
  options: ServiceDatabaseOptions<Client>,
): Promise<ServiceDatabase<Client, Transaction>> {
  const { connectionString, poolSize, applicationName, migrationsDir, connect } = options;
  const pool = openPool({
    connectionString,
    max: poolSize,
    applicationName,
    preparedStatements: options.preparedStatements ?? true,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  try {
    await checkPooler(pool);
    await applyMigrations(pool, migrationsDir);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const prisma = connect(pool, TRANSACTION_OPTIONS);
  const listeners: (() => void)[] = [];
  return {
    prisma,
    pool,
    async transact(work) {
      const result = await prisma.$transaction(work);
      for (const listener of listeners) listener();
      return result;
    },
    onCommit: (listener) => void listeners.push(listener),
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/** Takes a lock until the transaction ends: of several processes that want to do the same thing once, one does it. */
export async function takeAdvisoryLock(
  transaction: { $executeRaw(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<number> },
  purpose: string,
): Promise<void> {
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${purpose}, 0))`;
}
