import type pg from 'pg';
import { creating } from './idempotency/creating.ts';
import type { RawTransaction } from './idempotency/key-claims.ts';
import type { KeyedRequest } from './idempotency/keyed-request.ts';
import { applyMigrations } from './migrations.ts';
import { openPool } from './pool.ts';

/** On a busy machine a transaction may wait for its turn; it must not be given up before the caller would. */
const TRANSACTION_OPTIONS = { maxWait: 10_000, timeout: 20_000 };

/** A caller behind the gateway is told sooner than it would give up. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Of a generated Prisma client, what is needed here: every service generates its own. */
export interface TransactionalClient<Transaction> {
  $transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  $disconnect(): Promise<void>;
}

/** The database that one service owns, through its Prisma client and beside it. */
export interface ServiceDatabase<Client, Transaction> {
  prisma: Client;
  /** The same connections as Prisma's: for what is not Prisma's to do, as relaying the outbox. */
  pool: pg.Pool;
  /**
   * A transaction that writes events; once it is committed, `onChange` hears of it. For a keyed request the work answers the body
   * of the answer. @throws KeyTakenError
   */
  change<T>(work: (transaction: Transaction) => Promise<T>, keyed?: KeyedRequest): Promise<T>;
  onChange(listener: () => void): void;
  close(): Promise<void>;
}

export interface ServiceDatabaseOptions<Client> {
  connectionString: string;
  poolSize: number;
  migrationsDir: string;
  /** Names the connections in Postgres. */
  applicationName: string;
  /** The service's own Prisma client on these connections. */
  connect(pool: pg.Pool, transactionOptions: { maxWait: number; timeout: number }): Client;
}

/** Opens a service's database after bringing its schema up to date. */
export async function openServiceDatabase<
  Client extends TransactionalClient<Transaction>,
  Transaction extends RawTransaction,
>(options: ServiceDatabaseOptions<Client>): Promise<ServiceDatabase<Client, Transaction>> {
  const { connectionString, poolSize, applicationName, migrationsDir, connect } = options;
  const pool = openPool({ connectionString, max: poolSize, applicationName, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  try {
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
    async change(work, keyed) {
      const result = await prisma.$transaction((transaction) => creating(transaction, keyed, work));
      for (const listener of listeners) listener();
      return result;
    },
    onChange: (listener) => void listeners.push(listener),
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/** Holds until the transaction ends: of several processes that want to do the same thing once, one does it. */
export async function lockFor(
  transaction: { $executeRaw(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<number> },
  purpose: string,
): Promise<void> {
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${purpose}, 0))`;
}
