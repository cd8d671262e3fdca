import { waitFor } from '@runyard/test-kit';
import type { Prisma } from '../../src/generated/client.ts';
import type { TestPeople } from './people.ts';

/** Rows that a test keeps locked, so that requests stop at a known statement. */
export interface LockedRows {
  /** Changes the rows, as somebody who was faster. */
  transaction: Prisma.TransactionClient;
  /** Resolves when so many statements wait for a lock. */
  waiting(statements: number): Promise<void>;
}

/** Runs work while rows are locked: those of a table with a value in a column. Whatever it sent goes on afterwards. */
export async function whileLocked<Result extends object>(
  { database }: TestPeople,
  { table, column = 'id', value }: { table: string; column?: string; value: string },
  work: (rows: LockedRows) => Promise<Result>,
): Promise<Result> {
  const waiting = async (statements: number) => {
    const isReached = async () => {
      const found = await database.prisma.$queryRaw<unknown[]>`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return found.length >= statements;
    };
    await waitFor(isReached, { what: `${statements} statements that wait for a lock` });
  };
  return database.transact(async (transaction) => {
    await transaction.$queryRawUnsafe(`SELECT 1 FROM ${table} WHERE ${column} = $1::uuid FOR UPDATE`, value);
    return work({ transaction, waiting });
  });
}
