import { join } from 'node:path';
import { createTestDatabase, startServiceProcess, type TestDatabase, withDatabaseClient } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';

const repository = join(import.meta.dirname, '../../..');
let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.close());

async function migrate(service: string) {
  const command = await startServiceProcess({
    entry: join(repository, 'services', service, 'src/main.ts'),
    args: ['migrate'],
    env: { DATABASE_URI: database.url },
    readyPath: null,
  });
  return { ...(await command.exited), output: command.output() };
}
const query = (sql: string) => withDatabaseClient(database.url, async (client) => (await client.query(sql)).rows);

it.each(['control-plane', 'oauth-broker', 'org-access', 'registry', 'run-history'])(
  '%s migrates its database, given its address alone, and ends',
  async (service) => {
    expect(await migrate(service)).toMatchObject({ code: 0 });
    const [{ unfinished, all }] = await query(
      'SELECT count(*) FILTER (WHERE finished_at IS NULL)::int AS unfinished, count(*)::int AS all FROM _prisma_migrations',
    );
    expect(unfinished).toBe(0);
    expect(all).toBeGreaterThan(0);
  },
);

it('a migration that fails ends the command with an error that names it, and so the upgrade', async () => {
  // The first migration creates this table, which is there already.
  await query('CREATE TABLE deployment ()');
  const { code, output } = await migrate('registry');
  expect(code, output).toBe(1);
  expect(output).toContain('migration_failed');
});
