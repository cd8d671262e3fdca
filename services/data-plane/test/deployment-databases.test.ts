import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase, withDatabaseClient } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DeploymentDatabases } from '../src/deployment-servers/deployment-databases.ts';

/** Stands for the administrator's database, which roles may connect to unless somebody has forbidden it. */
let shared: TestDatabase;
beforeAll(async () => {
  shared = await createTestDatabase();
});
afterAll(() => shared?.close());

it('a deployment that has left something in another database is removed all the same, with what it left', async () => {
  const databases = new DeploymentDatabases(shared.url);
  const id = randomUUID();
  const password = DeploymentDatabases.makePassword();
  await databases.ensure(id, password);
  const own = databases.accessTo(id, password).uri;
  const uri = new URL(own);
  uri.pathname = new URL(shared.url).pathname;
  await withDatabaseClient(uri.href, (client) => client.query("SELECT lo_from_bytea(0, 'left')"));
  await databases.drop(id);
  await withDatabaseClient(shared.url, async (client) => {
    const left = await client.query('SELECT 1 FROM pg_largeobject_metadata');
    const roles = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [new URL(own).username]);
    expect([left.rowCount, roles.rowCount]).toEqual([0, 0]);
  });
  await databases.drop(id);
});

it('a database whose creation was cut short is closed to others when it is ensured again', async () => {
  const databases = new DeploymentDatabases(shared.url);
  const id = randomUUID();
  const password = DeploymentDatabases.makePassword();
  await databases.ensure(id, password);
  const name = new URL(databases.accessTo(id, password).uri).pathname.slice(1);
  const isOpen = () =>
    withDatabaseClient(shared.url, async (client) => {
      const { rows } = await client.query("SELECT has_database_privilege('public', $1, 'CONNECT') AS open", [name]);
      return rows[0].open;
    });
  await withDatabaseClient(shared.url, (client) => client.query(`GRANT CONNECT ON DATABASE ${name} TO PUBLIC`));
  await databases.ensure(id, password);
  expect(await isOpen()).toBe(false);
  await databases.drop(id);
});
