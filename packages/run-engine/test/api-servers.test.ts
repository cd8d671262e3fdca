import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { openPool } from '@runyard/database';
import { createTestDatabase } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiServers } from '../src/index.ts';

const migrations = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: ReturnType<typeof openPool>;
let servers: ApiServers;

beforeAll(async () => {
  database = await createTestDatabase(migrations);
  pool = openPool({ connectionString: database.url, max: 2, applicationName: 'api-servers-test' });
  servers = new ApiServers(pool);
});
afterAll(async () => {
  await pool.end();
  await database.close();
});

const server = (revisionId: string) => ({
  serverId: randomUUID(),
  url: 'http://127.0.0.1:1',
  token: 'token',
  revisionId,
});

it('a live process is found, one of the own revision first, and no unresponsive or removed one', async () => {
  expect(await servers.find('a')).toBeUndefined();
  const [a, b] = [server('a'), server('b')];
  await servers.register(a);
  await servers.register(b);
  expect([await servers.find('a'), await servers.find('b')]).toEqual([a, b]);
  await servers.deregister(a.serverId);
  expect(await servers.find('a')).toEqual(b);
  await pool.query(`UPDATE api_server SET seen_at = now() - interval '31 seconds'`);
  expect(await servers.find('b')).toBeUndefined();
  await servers.register(b);
  expect(await servers.find('b')).toEqual(b);
});

it('processes that have not announced themselves for long are deleted', async () => {
  const [gone, here] = [server('x'), server('x')];
  await servers.register(gone);
  await pool.query(`UPDATE api_server SET seen_at = now() - interval '1 hour'`);
  await servers.register(here);
  const { rows } = await pool.query('SELECT server_id FROM api_server');
  expect(rows).toEqual([{ server_id: here.serverId }]);
});
