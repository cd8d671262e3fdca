import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../src/database/database.ts';
import { TestOrgAccess } from './support/platform.ts';
import { ScimClient } from './support/scim-client.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

let platform: TestOrgAccess;
let database: Database;
let scim: ScimClient;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  database = await openDatabase({ connectionString: platform.database.url, poolSize: 3, migrationsDir });
  scim = await ScimClient.create(platform);
});
afterAll(async () => {
  await database?.close();
  await platform?.close();
});

/** The tables that SCIM requests change. */
const TABLES = [
  ...['person', 'identity', 'role_grant', 'member', 'audit_event'],
  ...['scim_user', 'scim_group', 'scim_group_member'],
];

/** Returns the content of these tables as one value. */
const digestOf = async () => {
  const digest = createHash('sha256');
  for (const table of TABLES) {
    const { rows } = await database.pool.query(`SELECT to_jsonb(t)::text AS row FROM ${table} t ORDER BY 1`);
    digest.update(JSON.stringify([table, rows]));
  }
  return digest.digest('hex');
};

/** Sends a request whose last step, the audit events, has to wait; then kills the service, and starts another. */
const killDuring = async (send: () => Promise<unknown>) => {
  await database.transact(async (transaction) => {
    await transaction.$queryRaw`SELECT 1 FROM audit_head FOR UPDATE`;
    const sent = send().then(
      () => 'answered',
      () => 'broken',
    );
    const isWaiting = async () =>
      (
        await database.pool.query(
          `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%audit_head%'`,
        )
      ).rowCount || undefined;
    await waitFor(isWaiting, { what: 'the request waits for the audit trail' });
    await platform.service.stop({ signal: 'SIGKILL' });
    expect(await sent).toBe('broken');
  });
  await platform.restart();
};

describe('org-access that is killed at the last step of a SCIM request', () => {
  let ada: string;
  let group: string;
  beforeAll(async () => {
    ada = (await scim.createUser('ada')).body.id;
    group = (await scim.createGroup('Organization User:Workspace 1:Editor')).body.id;
  });

  it.each<[string, () => Promise<{ status: number }>, number]>([
    ['to create a user', () => scim.createUser('bob'), 201],
    [
      'to add a member',
      () => scim.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: ada }] }),
      204,
    ],
    ['to deactivate a user', () => scim.patch(`/Users/${ada}`, { op: 'replace', path: 'active', value: false }), 200],
  ])('%s has changed nothing, and does it whole when asked again', async (_, send, status) => {
    const before = await digestOf();
    await killDuring(send);
    expect(await digestOf()).toBe(before);
    expect((await send()).status).toBe(status);
    expect(await digestOf()).not.toBe(before);
  });
});
