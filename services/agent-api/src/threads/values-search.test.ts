import { openPool } from '@runyard/database';
import { createTestDatabase } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { openPrisma } from '../connections/prisma.ts';
import { searchValues } from './values-search.ts';

it('a search by values that takes too long is refused with advice, and its connection serves the next one', async () => {
  const database = await createTestDatabase();
  const pool = openPool({ connectionString: database.url, max: 1, applicationName: 'values-search-test' });
  const prisma = openPrisma(pool);
  try {
    await expect(searchValues(prisma, 50, (db) => db.$queryRaw`SELECT 1 FROM pg_sleep(600)`)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('Narrow the search'),
    });
    // The limit applied to the search alone.
    const [row] = (await pool.query('SHOW statement_timeout')).rows;
    expect(row.statement_timeout).not.toBe('50ms');
  } finally {
    await prisma.$disconnect();
    await pool.end();
    await database.close();
  }
});
