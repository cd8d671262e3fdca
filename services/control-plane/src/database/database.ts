import { PrismaPg } from '@prisma/adapter-pg';
import { applyMigrations, openPool } from '@runyard/database';
import type pg from 'pg';
import { type Prisma, PrismaClient } from '../generated/client.ts';

/** On a busy machine a transaction may wait for its turn; it must not be given up before the caller would. */
const CONNECTION_WAIT_MS = 10_000;
const TRANSACTION_TIMEOUT_MS = 20_000;

export interface Database {
  prisma: PrismaClient;
  /** The same connections as Prisma's: for what is not Prisma's to do, as relaying the outbox. */
  pool: pg.Pool;
  /** A transaction that writes events; once it is committed, `onChange` hears of it. */
  change<T>(work: (transaction: Prisma.TransactionClient) => Promise<T>): Promise<T>;
  onChange(listener: () => void): void;
  close(): Promise<void>;
}

/** A transaction or the client itself: stores take either. */
export type Queries = PrismaClient | Prisma.TransactionClient;

/** Opens the service's database after bringing its schema up to date. */
export async function openDatabase(options: {
  connectionString: string;
  poolSize: number;
  migrationsDir: string;
}): Promise<Database> {
  const pool = openPool({
    connectionString: options.connectionString,
    max: options.poolSize,
    applicationName: 'runyard-control-plane',
  });
  try {
    await applyMigrations(pool, options.migrationsDir);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool),
    transactionOptions: { maxWait: CONNECTION_WAIT_MS, timeout: TRANSACTION_TIMEOUT_MS },
  });
  const listeners: (() => void)[] = [];
  return {
    prisma,
    pool,
    async change(work) {
      const result = await prisma.$transaction(work);
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
export async function lockFor(transaction: Prisma.TransactionClient, purpose: string): Promise<void> {
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${purpose}, 0))`;
}
