import { sqlState } from '@runyard/database';
import { UnprocessableError } from '@runyard/service-kit';
import type { Prisma, PrismaClient } from '../connections/prisma.ts';

/**
 * Milliseconds that one statement of a search by values may take: it reads the state of every thread that the other
 * filters leave.
 */
export const VALUES_SEARCH_MS = 10_000;
const CANCELLED = '57014';

/**
 * Searches by values within a time limit, so that a few searches cannot hold every connection.
 *
 * @throws UnprocessableError beyond the limit
 */
export async function searchValues<T>(
  prisma: PrismaClient,
  limitMs: number,
  search: (db: Prisma.TransactionClient) => Promise<T>,
): Promise<T> {
  try {
    return await prisma.$transaction(
      async (db) => {
        await db.$executeRaw`SELECT set_config('statement_timeout', ${String(limitMs)}, true)`;
        return search(db);
      },
      // The statements end by themselves.
      { timeout: 3 * limitMs + 5_000 },
    );
  } catch (error) {
    if (sqlState(error) !== CANCELLED) throw error;
    throw new UnprocessableError(
      `values: the state of so many threads cannot be searched within ${limitMs / 1000} s. ` +
        'Narrow the search by ids, metadata, status or times.',
      { code: 'values_search_too_slow', cause: error },
    );
  }
}
