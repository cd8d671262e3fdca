import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disableIdentity } from '../access/credentials/disable-identity.ts';
import { PLATFORM_ROLES } from '../access/platform-roles.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { SsoSignInService } from './sso-sign-in.ts';

const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
const DEFAULT_ROLE = PLATFORM_ROLES.workspaceUser;

let file: TestDatabase;
let database: Database;
beforeAll(async () => {
  file = await createTestDatabase(migrationsDir);
  database = await openDatabase({ connectionString: file.url, poolSize: 6, migrationsDir });
});
afterAll(async () => {
  await database?.close();
  await file?.close();
});

/** Makes an organization with two workspaces, the second of them deleted, and a provider with both as its defaults. */
async function makeOrganization(change: { isDefault?: boolean; jitProvisioningEnabled?: boolean } = {}) {
  const organizationId = uuidv7();
  await database.prisma.organization.updateMany({ data: { isDefault: false } });
  await database.prisma.organization.create({
    data: { id: organizationId, displayName: 'Acme', isDefault: true, ...change },
  });
  const [live, deleted] = [uuidv7(), uuidv7()];
  await database.prisma.workspace.createMany({
    data: [
      { id: live, organizationId, displayName: 'Live' },
      { id: deleted, organizationId, displayName: 'Deleted', deletedAt: new Date() },
    ],
  });
  const provider = await database.prisma.ssoProvider.create({
    data: {
      id: uuidv7(),
      organizationId,
      protocol: 'oidc',
      displayName: 'Company',
      defaultWorkspaceRoleId: DEFAULT_ROLE,
      defaultWorkspaceIds: [live, deleted],
      configuration: {},
    },
  });
  return { organizationId, provider, live, deleted };
}
type Made = Awaited<ReturnType<typeof makeOrganization>>;

const invite = (
  { organizationId }: Made,
  email: string,
  workspaces: { workspaceId: string; roleId: string }[],
  change: { expiresAt?: Date } = {},
) =>
  database.prisma.invite.create({
    data: {
      id: uuidv7(),
      organizationId,
      email,
      organizationRoleId: PLATFORM_ROLES.organizationViewer,
      tokenSha256: new Uint8Array(Buffer.from(uuidv7())),
      expiresAt: new Date(Date.now() + 60_000),
      ...change,
      workspaces: { create: workspaces.map((workspace) => ({ id: uuidv7(), ...workspace })) },
    },
  });

function signIn({ provider }: Made, email: string, subject = email, installationAllowsJit = true) {
  const service = new SsoSignInService({ database, installationAllowsJit });
  return service.signIn(
    { provider, issuer: 'https://id.example.com', subject, email, fullName: 'Ada' },
    async (_, __, { identityId }) => identityId,
  );
}

const address = () => `${uuidv7()}@example.com`;
const membersOf = async ({ organizationId }: Made) =>
  database.prisma.identity.findMany({ where: { organizationId }, include: { members: true } });
const lastEvents = async ({ organizationId }: Made) =>
  (await database.prisma.auditEvent.findMany({ where: { organizationId }, orderBy: { sequence: 'asc' } })).map(
    ({ action, details }) => ({ action, details }),
  );

describe('the first sign-in of a person', () => {
  it('provisions one member with the default role in the workspaces that are left, however many come at once', async () => {
    const made = await makeOrganization();
    const email = address();
    const results = await Promise.all(Array.from({ length: 6 }, () => signIn(made, email.toUpperCase(), 'Sub-1')));
    expect(results.map(({ decision }) => decision.step).sort()).toEqual([1, 1, 1, 1, 1, 3]);
    const [member, ...others] = await membersOf(made);
    expect(others).toEqual([]);
    expect(member?.organizationRoleId).toBe(PLATFORM_ROLES.organizationUser);
    expect(member?.members.map(({ workspaceId, roleId }) => [workspaceId, roleId])).toEqual([
      [made.live, DEFAULT_ROLE],
    ]);
    expect(await database.prisma.login.count({ where: { ssoProviderId: made.provider.id } })).toBe(1);
    const person = await database.prisma.person.findUnique({ where: { email } });
    expect(person).toMatchObject({ fullName: 'Ada' });
    const events = await database.prisma.auditEvent.findMany({ where: { organizationId: made.organizationId } });
    expect(events.map(({ actorId }) => actorId)).toEqual(Array(events.length).fill(person!.id));
  });

  it('uses an invite once, leaves out its deleted workspace, and replaces a role that is gone', async () => {
    const made = await makeOrganization();
    const email = address();
    const missingRole = uuidv7();
    await invite(made, email, [
      { workspaceId: made.live, roleId: missingRole },
      { workspaceId: made.deleted, roleId: DEFAULT_ROLE },
    ]);
    const results = await Promise.all(Array.from({ length: 4 }, () => signIn(made, email)));
    expect(results.map(({ decision }) => decision.step).sort()).toEqual([1, 1, 1, 2]);
    const [member] = await membersOf(made);
    expect(member?.organizationRoleId).toBe(PLATFORM_ROLES.organizationViewer);
    expect(member?.members.map(({ workspaceId, roleId }) => [workspaceId, roleId])).toEqual([
      [made.live, PLATFORM_ROLES.workspaceEditor],
    ]);
    expect(await lastEvents(made)).toContainEqual({
      action: 'invite.claimed',
      details: expect.objectContaining({ missingWorkspaces: [made.deleted], missingRoles: [missingRole] }),
    });
  });

  it('does not use an expired invite', async () => {
    const made = await makeOrganization({ jitProvisioningEnabled: false });
    const email = address();
    await invite(made, email, [], { expiresAt: new Date(Date.now() - 1_000) });
    expect((await signIn(made, email)).decision).toMatchObject({ step: 4, outcome: 'denied' });
  });

  it('that is denied leaves no person and no login, but an event', async () => {
    const made = await makeOrganization();
    const email = address();
    expect((await signIn(made, email, email, false)).decision).toMatchObject({ step: 4, outcome: 'denied' });
    expect(await database.prisma.person.findUnique({ where: { email } })).toBeNull();
    expect(await database.prisma.login.count({ where: { ssoProviderId: made.provider.id } })).toBe(0);
    expect(await lastEvents(made)).toEqual([
      { action: 'sign_in.denied', details: expect.objectContaining({ step: 4, email }) },
    ]);
  });

  it('gives the provider of another organization no word on whether an address is verified', async () => {
    const made = await makeOrganization({ isDefault: false });
    const email = address();
    await invite(made, email, []);
    await signIn(made, email);
    expect(await database.prisma.person.findUnique({ where: { email } })).toMatchObject({ emailVerifiedAt: null });
  });
});

describe('an account that never proved its address', () => {
  /** Makes what somebody who had a link to the address may have made. */
  async function makeAccount() {
    const email = address();
    const { id } = await database.prisma.person.create({ data: { id: uuidv7(), email } });
    await database.prisma.passwordCredential.create({ data: { personId: id, hash: 'x' } });
    const tokenSha256 = new Uint8Array(Buffer.from(id));
    const expiresAt = new Date(Date.now() + 60_000);
    const session = { id: uuidv7(), personId: id, tokenSha256, expiresAt };
    await database.prisma.session.create({ data: session });
    return { email, id, sessionId: session.id };
  }
  const stateOf = async ({ id, sessionId }: { id: string; sessionId: string }) => ({
    hasPassword: (await database.prisma.passwordCredential.count({ where: { personId: id } })) > 0,
    endReason: (await database.prisma.session.findUniqueOrThrow({ where: { id: sessionId } })).endReason,
  });

  it('loses its password and sessions to whoever proves the address to the default organization', async () => {
    const made = await makeOrganization();
    const account = await makeAccount();
    expect(await signIn(made, account.email)).toMatchObject({ decision: { step: 3 }, personId: account.id });
    expect(await stateOf(account)).toEqual({ hasPassword: false, endReason: 'credentials_changed' });
    expect(await database.prisma.person.findUniqueOrThrow({ where: { id: account.id } })).toMatchObject({
      emailVerifiedAt: expect.any(Date),
    });
  });

  it('is not taken over by the provider of another organization, which lets its own people in beside it', async () => {
    const made = await makeOrganization({ isDefault: false });
    const account = await makeAccount();
    await invite(made, account.email, []);
    expect((await signIn(made, account.email)).decision).toMatchObject({ step: 2, outcome: 'invite_claimed' });
    expect(await stateOf(account)).toEqual({ hasPassword: true, endReason: null });
    expect(await membersOf(made)).toMatchObject([{ personId: account.id, isAccepted: false }]);
  });
});

describe('later sign-ins', () => {
  it('find the person by the account, also when the address changed and in another case', async () => {
    const made = await makeOrganization();
    const first = await signIn(made, address(), 'Sub-2');
    const second = await signIn(made, address(), 'SUB-2');
    expect(second).toMatchObject({ decision: { step: 1 }, admission: 'admission' in first && first.admission });
  });

  it('of a disabled member are denied, and do not make a second one', async () => {
    const made = await makeOrganization();
    const email = address();
    await signIn(made, email);
    const [member] = await membersOf(made);
    await database.transact((transaction) => disableIdentity(transaction, made.organizationId, member!.id));
    expect((await signIn(made, email)).decision).toEqual({
      step: 0,
      outcome: 'denied',
      reason: 'identity_disabled',
    });
    expect(await membersOf(made)).toHaveLength(1);
  });
});

describe('the first administrator whom the installation names', () => {
  const named = address();
  const signInAs = ({ provider }: Made, email: string) =>
    new SsoSignInService({
      database,
      installationAllowsJit: false,
      initialAdministrator: ` ${named.toUpperCase()}`,
    }).signIn(
      { provider, issuer: 'https://id.example.com', subject: email, email, fullName: 'Ada' },
      async (_, __, { identityId }) => identityId,
    );
  const rolesOf = async ({ organizationId }: Made) =>
    (await database.prisma.identity.findMany({ where: { organizationId }, orderBy: { createdAt: 'asc' } })).map(
      ({ organizationRoleId }) => organizationRoleId,
    );

  it('becomes Organization Admin at the first sign-in, also of several at once, and nobody else does', async () => {
    const made = await makeOrganization({ jitProvisioningEnabled: false });
    expect((await signInAs(made, address())).decision.outcome).toBe('denied');
    await Promise.all([1, 2, 3].map(() => signInAs(made, named)));
    expect(await rolesOf(made)).toEqual([PLATFORM_ROLES.organizationAdmin]);
    const { organizationId } = made;
    const where = { organizationId, action: 'member.made_initial_administrator' };
    const events = await database.prisma.auditEvent.findMany({ where });
    expect(events).toHaveLength(1);
  });

  it('who is a member already becomes it too, and not while another person administers the organization', async () => {
    const made = await makeOrganization();
    await signIn(made, named);
    expect(await rolesOf(made)).toEqual([PLATFORM_ROLES.organizationUser]);
    expect((await signInAs(made, named)).decision.step).toBe(1);
    expect(await rolesOf(made)).toEqual([PLATFORM_ROLES.organizationAdmin]);
    const administered = await makeOrganization({ jitProvisioningEnabled: false });
    const administrator = await invite(administered, address(), []);
    await database.prisma.invite.update({
      where: { id: administrator.id },
      data: { organizationRoleId: PLATFORM_ROLES.organizationAdmin },
    });
    expect((await signInAs(administered, administrator.email)).decision.outcome).toBe('invite_claimed');
    expect((await signInAs(administered, named)).decision.outcome).toBe('denied');
    const other = await makeOrganization({ isDefault: false });
    expect((await signInAs(other, named)).decision.outcome).toBe('denied');
  });
});

describe('a person whom SCIM created', () => {
  async function addByScim({ organizationId }: Made, externalId: string): Promise<string> {
    const person = await database.prisma.person.create({ data: { id: uuidv7(), email: address() } });
    const identityId = uuidv7();
    await database.prisma.identity.create({
      data: {
        id: identityId,
        organizationId,
        kind: 'person',
        personId: person.id,
        name: 'Ada',
        organizationRoleId: PLATFORM_ROLES.organizationViewer,
      },
    });
    await database.prisma.scimUser.create({
      data: {
        id: uuidv7(),
        organizationId,
        identityId,
        externalId,
        userName: externalId,
        userNameKey: externalId.toLowerCase(),
        email: person.email,
        isActive: true,
      },
    });
    return person.email;
  }

  it('is found by the external id, whatever the address, and only by the whole of it', async () => {
    const made = await makeOrganization({ jitProvisioningEnabled: false });
    await addByScim(made, 'ext_1%');
    expect((await signIn(made, address(), 'EXT_1%')).decision.step).toBe(1);
    expect((await signIn(made, address(), 'extX1234')).decision.step).toBe(4);
  });

  it('is not given to another account with the same address', async () => {
    const made = await makeOrganization();
    const email = await addByScim(made, 'ext-2');
    expect((await signIn(made, email, 'somebody else')).decision).toEqual({
      step: 0,
      outcome: 'denied',
      reason: 'other_account',
    });
  });
});
