import { randomBytes, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Cipher } from '@runyard/encryption';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../src/database/database.ts';
import { DeploymentKeys } from '../src/deployments/deployment-keys.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const DAY_MS = 86_400_000;
let testDatabase: TestDatabase;
let database: Database;
let now = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase(migrationsDir);
  database = await openDatabase({ connectionString: testDatabase.url, poolSize: 4, migrationsDir });
});
afterAll(async () => {
  await database?.close();
  await testDatabase?.close();
});

const newKey = () => randomBytes(32).toString('base64');
const encryptionKey = newKey();
/** Opens the keys as a process does that has just started. */
const openKeys = (key = encryptionKey) => new DeploymentKeys(new Cipher(key), () => now);

async function newDeployment(): Promise<string> {
  const id = randomUUID();
  const ids = { organizationId: randomUUID(), workspaceId: randomUUID(), createdBy: randomUUID() };
  const source = { source: 'local_directory', sourceConfig: {}, sourceRevisionConfig: {} };
  await database.prisma.deployment.create({
    data: { id, ...ids, ...source, name: id, slug: id, status: 'READY', latestRevisionId: randomUUID() },
  });
  return id;
}

async function keysOf(id: string, keys = openKeys()): Promise<string[] | undefined> {
  const variable = await keys.find(database.prisma, id);
  if (variable) expect(variable.name).toBe('RUNYARD_DEPLOYMENT_KEYS');
  return variable?.value.split(',');
}

it('a deployment has keys of its own from its first start on, and none once it is deleted', async () => {
  const [one, other] = [await newDeployment(), await newDeployment()];
  const made = await keysOf(one);
  expect(made).toHaveLength(2);
  expect(await keysOf(one)).toEqual(made);
  expect(new Set([...made!, ...(await keysOf(other))!]).size).toBe(4);
  const { encryptedKeys } = await database.prisma.deployment.findUniqueOrThrow({ where: { id: one } });
  for (const key of made!) expect(encryptedKeys).not.toContain(key);
  await database.prisma.deployment.delete({ where: { id: one } });
  expect(await keysOf(one)).toBeUndefined();
});

it('processes that ask for the first keys at the same time get the same ones', async () => {
  const id = await newDeployment();
  const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => keysOf(id)));
  for (const other of others) expect(other).toEqual(first);
});

it('another key encrypts after 90 days, which processes knew before, and no older one is lost', async () => {
  const id = await newDeployment();
  const [first, second] = (await keysOf(id))!;
  now += 89 * DAY_MS;
  expect(await keysOf(id)).toEqual([first, second]);
  now += 2 * DAY_MS;
  expect(await keysOf(id)).toEqual([second, expect.any(String), first]);
  now += 91 * DAY_MS;
  const [, third] = (await keysOf(id))!;
  expect((await keysOf(id))!.slice(2)).toEqual([second, first]);
  expect(new Set([first, second, third]).size).toBe(3);
});

it("keys stay readable when the platform's own key changes", async () => {
  const id = await newDeployment();
  const made = await keysOf(id);
  expect(await keysOf(id, openKeys(`${newKey()},${encryptionKey}`))).toEqual(made);
  await expect(keysOf(id, openKeys(newKey()))).rejects.toThrow(/is not configured/);
});
