import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { publishAccessChange } from '../src/identities/access-change.ts';
import { disableIdentity } from '../src/identities/disable-identity.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

const ADMIN = { workspaceId: null, roleId: PLATFORM_ROLES.organizationAdmin };
const USER = { workspaceId: null, roleId: PLATFORM_ROLES.organizationUser };

let platform: TestOrgAccess;
let people: TestPeople;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  people = await TestPeople.open(platform);
});
afterAll(async () => {
  await people?.close();
  await platform?.close();
});

const claimsOf = async (token: string, request: { organization_id?: string; workspace_id?: string } = {}) => {
  const answer = await platform.verify(token, request);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer));
  return answer.body.claims;
};

describe('a session', () => {
  it('acts as the member in the only organization and workspace, with the rights of the role', async () => {
    const { organizationId, workspaceId } = await people.addOrganization();
    const personId = await people.addPerson();
    const editor = { workspaceId, roleId: PLATFORM_ROLES.workspaceEditor };
    const identityId = await people.addMember(personId, organizationId, [USER, editor]);
    const { id, token } = await people.signIn(personId);
    const claims = await claimsOf(token);
    expect(claims).toMatchObject({
      sub: identityId,
      kind: 'session',
      person_id: personId,
      session_id: id,
      organization_id: organizationId,
      workspace_id: workspaceId,
      organization_role: 'user',
      plan: 'enterprise',
    });
    expect(claims.permissions).toContain('deployments:create');
    expect(claims.permissions).not.toContain('deployments:delete');
    expect(claims.key_id).toBeUndefined();
  });

  it('acts as the person, in no organization and without rights, where there is none', async () => {
    const personId = await people.addPerson();
    const { token } = await people.signIn(personId);
    const claims = await claimsOf(token);
    expect(claims).toMatchObject({ sub: personId, person_id: personId, permissions: [] });
    expect(claims.organization_id).toBeUndefined();
  });

  it('acts in the organization that is asked for, else in that of the workspace, and in none that it has to guess', async () => {
    const [first, second, foreign] = await Promise.all(['A', 'B', 'C'].map((name) => people.addOrganization(name)));
    const personId = await people.addPerson();
    await people.addMember(personId, first!.organizationId, [USER]);
    await people.addMember(personId, second!.organizationId, [ADMIN]);
    const { id, token } = await people.signIn(personId);
    expect((await claimsOf(token)).organization_id).toBeUndefined();
    expect(await claimsOf(token, { organization_id: first!.organizationId })).toMatchObject({
      organization_id: first!.organizationId,
      organization_role: 'user',
    });
    expect(await claimsOf(token, { workspace_id: second!.workspaceId })).toMatchObject({
      organization_id: second!.organizationId,
      workspace_id: second!.workspaceId,
      organization_role: 'admin',
    });
    await people.database.prisma.session.update({ where: { id }, data: { organizationId: first!.organizationId } });
    expect((await claimsOf(token)).organization_id).toBe(first!.organizationId);

    const refusals = await Promise.all([
      platform.verify(token, { organization_id: foreign!.organizationId }),
      platform.verify(token, { organization_id: uuidv7() }),
      platform.verify(token, { organization_id: 'nonsense' }),
      platform.verify(token, { workspace_id: foreign!.workspaceId }),
      platform.verify(token, { workspace_id: first!.workspaceId }),
      platform.verify(token, { organization_id: first!.organizationId, workspace_id: second!.workspaceId }),
      platform.verify(token, { workspace_id: 'nonsense' }),
    ]);
    expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403, 403]);
  });

  it('reaches an organization that is sso_only with its single sign-on alone, and no other from there', async () => {
    const [open, ssoOnly] = [await people.addOrganization(), await people.addOrganization()];
    await people.database.prisma.organization.update({
      where: { id: ssoOnly.organizationId },
      data: { ssoOnly: true },
    });
    const personId = await people.addPerson();
    await people.addMember(personId, open.organizationId, [USER]);
    await people.addMember(personId, ssoOnly.organizationId, [USER]);
    const { token: password } = await people.signIn(personId);
    const sso = { organizationId: ssoOnly.organizationId, providerId: uuidv7(), sessionId: null, subject: 'ada' };
    const { token } = await people.signIn(personId, { sso: { ...sso, encryptedIdToken: null } });

    expect((await claimsOf(password)).organization_id).toBe(open.organizationId);
    const refused = await platform.verify(password, { organization_id: ssoOnly.organizationId });
    expect(refused.status).toBe(403);
    expect(refused.body.detail).toContain('single sign-on');
    expect((await claimsOf(token)).organization_id).toBe(ssoOnly.organizationId);
    expect((await platform.verify(token, { organization_id: open.organizationId })).status).toBe(403);
  });

  it('ends when the member is disabled, also the one of its single sign-on', async () => {
    const { organizationId } = await people.addOrganization();
    const personId = await people.addPerson();
    const identityId = await people.addMember(personId, organizationId, [USER]);
    const sso = { organizationId, providerId: uuidv7(), sessionId: null, subject: 'ada', encryptedIdToken: null };
    const [{ token }, bySso] = [await people.signIn(personId), await people.signIn(personId, { sso })];
    await people.database.transact((transaction) => disableIdentity(transaction, organizationId, identityId));
    expect((await platform.verify(token, { organization_id: organizationId })).status).toBe(403);
    expect((await platform.verify(bySso.token)).status).toBe(401);
    await people.database.transact((transaction) =>
      publishAccessChange(transaction, organizationId, [identityId], 'disabled'),
    );
    expect((await platform.verify(token)).status).toBe(401);
  });

  it('is over at its end, after too long a pause, and with a token that nobody issued', async () => {
    const personId = await people.addPerson();
    const [ended, idle, old] = await Promise.all([1, 2, 3].map(() => people.signIn(personId)));
    const day = 86_400_000;
    await people.database.prisma.session.update({ where: { id: ended!.id }, data: { expiresAt: new Date() } });
    await people.database.prisma.session.update({
      where: { id: idle!.id },
      data: { lastSeenAt: new Date(Date.now() - day / 2) },
    });
    await people.database.prisma.session.update({
      where: { id: old!.id },
      data: { createdAt: new Date(Date.now() - 2 * day) },
    });
    const tokens = [ended!.token, idle!.token, old!.token, 'rys_nonsense', 'rys_'];
    const answers = await Promise.all(tokens.map((token) => platform.verify(token)));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  });

  it('names the networks of an organization that limits them, and so do keys', async () => {
    const { organizationId } = await people.addOrganization();
    const personId = await people.addPerson();
    await people.addMember(personId, organizationId, [USER]);
    const { token } = await people.signIn(personId);
    expect((await platform.verify(token)).body.allowed_networks).toBeUndefined();
    const limit = (id: string, ipAllowlistEnabled: boolean) =>
      people.database.prisma.organization.update({
        where: { id },
        data: { ipAllowlist: ['10.0.0.0/8'], ipAllowlistEnabled },
      });
    await limit(organizationId, true);
    await limit(platform.bootstrap.organization_id, true);
    expect((await platform.verify(token)).body.allowed_networks).toEqual(['10.0.0.0/8']);
    expect((await platform.verify(platform.bootstrap.api_key)).body.allowed_networks).toEqual(['10.0.0.0/8']);
    await limit(platform.bootstrap.organization_id, false);
    expect((await platform.verify(platform.bootstrap.api_key)).body.allowed_networks).toBeUndefined();
  });
});
