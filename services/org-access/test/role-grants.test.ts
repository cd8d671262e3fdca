import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepAdministrator } from '../src/access/administrators.ts';
import { disableIdentity } from '../src/access/credentials/disable-identity.ts';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { addGrants, applyGrants, type NewGrant } from '../src/access/role-grants.ts';
import { type Database, openDatabase } from '../src/database/database.ts';

const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const ORGANIZATION = uuidv7();
const [FIRST, SECOND] = [uuidv7(), uuidv7()];

let file: TestDatabase;
let database: Database;
beforeAll(async () => {
  file = await createTestDatabase(migrationsDir);
  database = await openDatabase({ connectionString: file.url, poolSize: 4, migrationsDir });
  await database.prisma.organization.create({ data: { id: ORGANIZATION, displayName: 'Acme' } });
  for (const id of [FIRST, SECOND])
    await database.prisma.workspace.create({ data: { id, organizationId: ORGANIZATION, displayName: id } });
});
afterAll(async () => {
  await database?.close();
  await file?.close();
});

async function addPerson(): Promise<string> {
  const person = await database.prisma.person.create({ data: { id: uuidv7(), email: `${uuidv7()}@example.com` } });
  const { id } = await database.prisma.identity.create({
    data: {
      id: uuidv7(),
      organizationId: ORGANIZATION,
      kind: 'person',
      personId: person.id,
      name: 'Ada',
      organizationRoleId: PLATFORM_ROLES.organizationViewer,
    },
  });
  return id;
}

const grant = (identityId: string, change: Partial<NewGrant> = {}): NewGrant => ({
  identityId,
  workspaceId: FIRST,
  roleId: PLATFORM_ROLES.workspaceEditor,
  source: 'manual',
  sourceId: null,
  ...change,
});

const rolesOf = async (identityId: string) => {
  const identity = await database.prisma.identity.findFirstOrThrow({
    where: { id: identityId },
    include: { members: true },
  });
  return {
    organization: identity.organizationRoleId,
    workspaces: Object.fromEntries(identity.members.map(({ workspaceId, roleId }) => [workspaceId, roleId])),
  };
};

const change = (identityIds: string[], grants: NewGrant[]) =>
  database.transact(async (transaction) => {
    await addGrants(transaction, ORGANIZATION, grants);
    return applyGrants(transaction, ORGANIZATION, identityIds);
  });

describe('the roles of a person', () => {
  it('follow from the grants, also when a stronger one comes and goes', async () => {
    const ada = await addPerson();
    const group = uuidv7();
    const user = { workspaceId: null, roleId: PLATFORM_ROLES.organizationUser };
    expect(await change([ada], [grant(ada), grant(ada, user)])).toEqual([ada]);
    await change([ada], [grant(ada, { source: 'scim_group', sourceId: group, roleId: PLATFORM_ROLES.workspaceAdmin })]);
    expect(await rolesOf(ada)).toEqual({
      organization: PLATFORM_ROLES.organizationUser,
      workspaces: { [FIRST]: PLATFORM_ROLES.workspaceAdmin },
    });
    await database.prisma.roleGrant.deleteMany({ where: { sourceId: group } });
    await change([ada], []);
    expect((await rolesOf(ada)).workspaces).toEqual({ [FIRST]: PLATFORM_ROLES.workspaceEditor });
  });

  it('stay, and nothing is published, when the same grants come once more', async () => {
    const [ada, bob] = [await addPerson(), await addPerson()];
    await change([ada, bob], [grant(ada), grant(bob, { workspaceId: SECOND })]);
    const memberships = await database.prisma.member.findMany({ where: { identityId: { in: [ada, bob] } } });
    expect(await change([ada, bob], [grant(ada), grant(bob, { workspaceId: SECOND })])).toEqual([]);
    expect(await database.prisma.member.findMany({ where: { identityId: { in: [ada, bob] } } })).toEqual(memberships);
  });

  it('end the sessions of the organization’s providers when one changes, not with a further workspace, and no others', async () => {
    const [ada, bob] = [await addPerson(), await addPerson()];
    for (const identityId of [ada, bob]) {
      const { personId } = await database.prisma.identity.findFirstOrThrow({ where: { id: identityId } });
      const expiresAt = new Date(Date.now() + 60_000);
      const tokenSha256 = new Uint8Array(Buffer.from(identityId));
      const session = { personId: personId!, tokenSha256, expiresAt, ssoOrganizationId: ORGANIZATION };
      await database.prisma.session.create({ data: { ...session, id: identityId } });
    }
    const { personId } = await database.prisma.identity.findFirstOrThrow({ where: { id: ada } });
    const own = { id: uuidv7(), personId: personId!, tokenSha256: new Uint8Array(Buffer.from(uuidv7())) };
    await database.prisma.session.create({ data: { ...own, expiresAt: new Date(Date.now() + 60_000) } });
    const reasons = async () => {
      const sessions = await database.prisma.session.findMany({ where: { id: { in: [ada, bob] } } });
      return Object.fromEntries(sessions.map(({ id, endReason }) => [id, endReason]));
    };
    await change([ada], [grant(ada)]);
    expect(await reasons()).toEqual({ [ada]: null, [bob]: null });
    await change([ada], [grant(ada, { roleId: PLATFORM_ROLES.workspaceViewer })]);
    expect(await reasons()).toEqual({ [ada]: 'role_changed', [bob]: null });
    expect((await database.prisma.session.findUniqueOrThrow({ where: { id: own.id } })).endReason).toBeNull();
  });
});

describe('the last administrator', () => {
  const admin = { workspaceId: null, roleId: PLATFORM_ROLES.organizationAdmin };
  const demote = (identityId: string) =>
    change([identityId], [grant(identityId, { ...admin, roleId: PLATFORM_ROLES.organizationUser })]);
  const disable = (identityId: string) =>
    database.transact((transaction) =>
      keepAdministrator(transaction, ORGANIZATION, () => disableIdentity(transaction, ORGANIZATION, identityId)),
    );

  it('keeps the role and the identity, also when two administrators go at once', async () => {
    const [ada, bob] = [await addPerson(), await addPerson()];
    await change([ada, bob], [grant(ada, admin), grant(bob, admin)]);
    const results = await Promise.allSettled([demote(ada), disable(bob)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const last = results[0]!.status === 'fulfilled' ? bob : ada;
    for (const attempt of [demote, disable]) {
      await expect(attempt(last)).rejects.toMatchObject({
        code: 'last_administrator',
        headers: { 'x-should-retry': 'false' },
      });
    }
    expect(await rolesOf(last)).toMatchObject({ organization: PLATFORM_ROLES.organizationAdmin });
    const eve = await addPerson();
    await change([eve], [grant(eve, admin)]);
    await demote(last);
    expect(await rolesOf(last)).toMatchObject({ organization: PLATFORM_ROLES.organizationUser });
  });
});
