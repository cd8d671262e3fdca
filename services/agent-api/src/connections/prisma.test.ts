import { fileURLToPath } from 'node:url';
import { isPoolBusy, openPool } from '@runyard/database';
import { createTestDatabase } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPrisma, Prisma } from './prisma.ts';

const migrations = fileURLToPath(new URL('../../../../packages/run-engine/prisma/migrations', import.meta.url));
let database: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  database = await createTestDatabase(migrations);
});
afterAll(() => database?.close());

it.each(Object.values(Prisma.ModelName))(
  'the Prisma model %s matches the table that the migrations made',
  async (model) => {
    const pool = openPool({ connectionString: database.url, max: 1, applicationName: 'agent-api-test' });
    const prisma = openPrisma(pool);
    try {
      const delegate = prisma[Prisma.ModelName[model].replace(/^./, (first) => first.toLowerCase()) as 'assistant'];
      // The query names every column of the model: a missing one, or one of another type, is an error.
      await expect(delegate.findMany()).resolves.toEqual([]);
    } finally {
      await prisma.$disconnect();
      await pool.end();
    }
  },
);

it('a pool without a free connection is reported apart from an unavailable database', async () => {
  const pool = openPool({
    connectionString: database.url,
    max: 1,
    connectTimeoutMs: 200,
    applicationName: 'agent-api-test',
  });
  const prisma = openPrisma(pool);
  const client = await pool.connect();
  const error = await prisma.assistant.findMany().catch((caught: unknown) => caught);
  client.release();
  expect(isPoolBusy(error)).toBe(true);
  await prisma.$disconnect();
  await pool.end();
});
