import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endSessions } from '../src/access/credentials/end-sessions.ts';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { type AuditRecorder, audited } from '../src/audit/audit-trail.ts';
import { type Database, openDatabase } from '../src/database/database.ts';
import { addWorkspaceToInvites } from '../src/directory/workspaces/add-workspace-to-invites.ts';
import type { Prisma } from '../src/generated/client.ts';
import { makeAccounts } from '../src/sign-in/accounts/new-account.ts';
import { openSession } from '../src/sign-in/sessions/open-session.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const tenant = { organizationId: uuidv7(), workspaceId: uuidv7() };
const { organizationId, workspaceId } = tenant;

let file: TestDatabase;
let database: Database;
beforeAll(async () => {
  file = await createTestDatabase(migrationsDir);
  database = await openDatabase({ connectionString: file.url, poolSize: 2, migrationsDir });
  await database.prisma.organization.create({ data: { id: organizationId, displayName: 'Acme' } });
  await database.prisma.workspace.create({ data: { id: workspaceId, organizationId, displayName: 'First' } });
});
afterAll(async () => {
  await database?.close();
  await file?.close();
});

/** Runs work in a transaction. @returns how often it asked the database for something */
async function countCalls(
  work: (transaction: Prisma.TransactionClient, audit: AuditRecorder) => Promise<unknown>,
): Promise<number> {
  let calls = 0;
  const counted = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(inner, name) {
        const value: unknown = Reflect.get(inner, name);
        if (typeof value === 'object' && value !== null) return counted(value);
        if (typeof value !== 'function') return value;
        return (...parameters: unknown[]) => {
          calls += 1;
          return Reflect.apply(value, inner, parameters);
        };
      },
    });
  await database.transact(audited((transaction, audit) => work(counted(transaction), audit)));
  return calls;
}

const many = <Item>(count: number, make: (index: number) => Item) => Array.from({ length: count }, (_, at) => make(at));
const newEmail = () => `${uuidv7()}@example.com`;

async function makePeople(count: number): Promise<string[]> {
  const data = many(count, () => ({ id: uuidv7(), email: newEmail() }));
  await database.prisma.person.createMany({ data });
  return data.map(({ id }) => id);
}

describe('the statements of a change do not depend on the number of people', () => {
  it('when accounts are made', async () => {
    const make = (count: number) => {
      const accounts = many(count, (index) => ({ email: newEmail(), fullName: `Ada ${index}`, hash: `hash ${index}` }));
      return countCalls(async (transaction) => {
        const made = await makeAccounts(transaction, uuidv7(), accounts, 'manual');
        expect(made.map(({ email, fullName }) => ({ email, fullName }))).toEqual(
          accounts.map(({ email, fullName }) => ({ email, fullName })),
        );
      });
    };
    expect(await make(30)).toBe(await make(1));
    const people = await database.prisma.person.findMany({ include: { password: true, logins: true } });
    expect(people).toHaveLength(31);
    for (const { email, fullName, password, logins } of people) {
      expect(password!.hash).toBe(fullName!.replace('Ada', 'hash'));
      expect(logins).toMatchObject([{ subject: email, provisioning: 'manual' }]);
    }
  });

  it('when a workspace is added to invites', async () => {
    const invite = async (count: number) => {
      const data = many(count, () => ({
        ...{ id: uuidv7(), organizationId, email: newEmail(), organizationRoleId: PLATFORM_ROLES.organizationUser },
        ...{ tokenSha256: new Uint8Array(randomBytes(32)), expiresAt: new Date(Date.now() + 60_000) },
      }));
      await database.prisma.invite.createMany({ data });
      return data.map(({ id, email }) => ({ inviteId: id, email }));
    };
    const add = (invites: Awaited<ReturnType<typeof invite>>, roleId: string) =>
      countCalls((transaction, audit) =>
        addWorkspaceToInvites(
          transaction,
          audit,
          tenant,
          invites.map((each) => ({ ...each, roleId })),
        ),
      );
    const [few, several] = [await invite(1), await invite(30)];
    const { workspaceViewer, workspaceEditor } = PLATFORM_ROLES;
    expect(await add(several, workspaceViewer)).toBe(await add(few, workspaceViewer));
    await add(several, workspaceEditor);
    const rows = await database.prisma.inviteWorkspace.findMany({ where: { workspaceId } });
    expect(rows.filter(({ roleId }) => roleId === workspaceEditor)).toHaveLength(30);
    const changes = await database.prisma.auditEvent.findMany({ where: { action: 'invite.workspace_added' } });
    const replaced = changes.filter(({ before }) => before !== null);
    expect(changes).toHaveLength(61);
    expect(replaced.map(({ resourceId }) => resourceId).sort()).toEqual(
      rows.flatMap(({ id, roleId }) => (roleId === workspaceEditor ? [id] : [])).sort(),
    );
    expect(replaced[0]).toMatchObject({ before: { roleId: workspaceViewer }, after: { roleId: workspaceEditor } });
  });

  it('when sessions end', async () => {
    const end = async (count: number) => {
      const personIds = await makePeople(count);
      const expiresAt = new Date(Date.now() + 60_000);
      for (const personId of personIds)
        await database.transact((transaction) =>
          openSession(transaction, { personId, loginId: null, expiresAt, address: null, userAgent: null }),
        );
      return countCalls(async (transaction) => {
        const where = { personId: { in: personIds } };
        expect(await endSessions(transaction, where, 'role_changed')).toBe(count);
      });
    };
    expect(await end(10)).toBe(await end(1));
  });
});
