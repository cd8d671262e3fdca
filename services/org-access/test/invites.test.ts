import type { NewMember, OrgMember, PendingOrganization } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { TestMailServer } from './support/mail-server.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

const MEMBERS = '/api/v1/orgs/current/members';
const PENDING = '/api/v1/orgs/pending';
const INFO = '/api/v1/orgs/current/info';

let platform: TestOrgAccess;
let people: TestPeople;
let mail: TestMailServer;
beforeAll(async () => {
  mail = await TestMailServer.start();
  platform = await TestOrgAccess.start({
    environment: { SMTP_URL: mail.url, PUBLIC_URL: 'https://runyard.example.com/' },
  });
  people = await TestPeople.open(platform);
});
afterAll(async () => {
  await people?.close();
  await platform?.close();
  await mail?.close();
});

/** Invites somebody who has an account elsewhere, and signs them in. */
async function invitee(invite: object = {}, { isVerified = true } = {}) {
  const email = `${crypto.randomUUID()}@example.com`;
  const personId = await people.addPerson(email);
  if (isVerified)
    await people.database.prisma.person.update({ where: { id: personId }, data: { emailVerifiedAt: new Date() } });
  const invited = await platform.asAdmin<NewMember>('POST', MEMBERS, { email, ...invite });
  const session = await people.signIn(personId);
  const call = <Body>(method: string, path: string) => platform.callAs<Body>(session, method, path);
  return { email, personId, invited: invited.body, call };
}
const here = () => `${PENDING}/${platform.bootstrap.organization_id}`;

describe('an invite', () => {
  it('goes by email where a mail server is configured, and its link is nowhere else', async () => {
    const made = await platform.asAdmin<NewMember>('POST', MEMBERS, { email: 'mailed@example.com' });
    expect(made.body).toMatchObject({ is_pending: true, invite_link: null });
    const message = await mail.messageTo('mailed@example.com');
    const [link, token] = /https:\/\/runyard\.example\.com\/login\/invite\?token=([\w-]{43})/.exec(message)!;
    expect(link).toBeDefined();
    expect(message).toContain('Subject: Invitation to Default');
    expect((await platform.dump()) + platform.output()).not.toContain(token);
  });

  it('is seen and claimed by its person, with its roles, without ending their session', async () => {
    const workspaceId = platform.bootstrap.workspace_id;
    const roles = { role_id: PLATFORM_ROLES.organizationViewer, workspace_role_id: PLATFORM_ROLES.workspaceUser };
    const ada = await invitee({ ...roles, workspace_ids: [workspaceId] });
    expect((await ada.call<PendingOrganization[]>('GET', PENDING)).body).toMatchObject([
      { id: platform.bootstrap.organization_id, display_name: 'Default', org_role_id: roles.role_id },
    ]);
    const claimed = await ada.call<OrgMember>('POST', `${here()}/claim`);
    expect(claimed).toMatchObject({ status: 200, body: { role_id: roles.role_id, tenant_ids: [workspaceId] } });
    const grants = await people.database.prisma.roleGrant.findMany({ where: { identityId: claimed.body.id } });
    expect(grants.map(({ source, sourceId }) => [source, sourceId])).toEqual([
      ['invite', ada.invited.id],
      ['invite', ada.invited.id],
    ]);
    expect((await ada.call('GET', PENDING)).body).toEqual([]);
    expect((await ada.call('POST', `${here()}/claim`)).status).toBe(404);
  });

  it('claimed twice at once makes one member', async () => {
    const ada = await invitee();
    const answers = await Promise.all([1, 2, 3].map(() => ada.call('POST', `${here()}/claim`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    expect(await people.database.prisma.identity.count({ where: { personId: ada.personId } })).toBe(1);
  });

  it('is declined, withdrawn or expired for good', async () => {
    const [declining, withdrawn, late] = [await invitee(), await invitee(), await invitee()];
    expect((await declining.call('DELETE', here())).status).toBe(200);
    await platform.asAdmin('DELETE', `${MEMBERS}/${withdrawn.invited.id}/pending`);
    await people.database.prisma.invite.update({
      where: { id: late.invited.id },
      data: { expiresAt: new Date(Date.now() - 1) },
    });
    for (const { call } of [declining, withdrawn, late]) {
      expect((await call('GET', PENDING)).body).toEqual([]);
      expect((await call('POST', `${here()}/claim`)).status).toBe(404);
      expect((await call('DELETE', here())).status).toBe(404);
    }
    expect((await platform.asAdmin<unknown[]>('GET', `${MEMBERS}/pending?emails=${late.email}`)).body).toEqual([]);
  });

  it('for an administrator is neither withdrawn nor replaced by an operator', async () => {
    const operator = await platform.issue({ org_role_id: PLATFORM_ROLES.organizationOperator });
    const { email, invited, call } = await invitee({ role_id: PLATFORM_ROLES.organizationAdmin });
    for (const direct of [false, true])
      expect((await platform.call(operator.key, 'POST', MEMBERS, { email, direct })).status).toBe(403);
    expect((await platform.call(operator.key, 'DELETE', `${MEMBERS}/${invited.id}/pending`)).status).toBe(403);
    expect((await call<OrgMember>('POST', `${here()}/claim`)).body.role_id).toBe(PLATFORM_ROLES.organizationAdmin);
  });

  it('is nothing to people with an address that is not verified, nor to those of other addresses or with keys', async () => {
    const unverified = await invitee({}, { isVerified: false });
    const other = await invitee();
    // The paths have two names.
    expect((await other.call('DELETE', here().replace('/orgs/', '/organizations/'))).status).toBe(200);
    for (const { call } of [unverified, other]) {
      expect((await call('GET', PENDING)).body).toEqual([]);
      expect((await call('POST', `${here()}/claim`)).status).toBe(404);
    }
    expect((await platform.asAdmin('GET', PENDING)).status).toBe(403);
  });

  it('does nothing while invites are disabled, and works again after', async () => {
    const ada = await invitee();
    await platform.asAdmin('PATCH', INFO, { invites_enabled: false });
    expect((await ada.call('GET', PENDING)).body).toEqual([]);
    expect((await ada.call('POST', `${here()}/claim`)).status).toBe(404);
    await platform.asAdmin('PATCH', INFO, { invites_enabled: true });
    expect((await ada.call('POST', `${here()}/claim`)).status).toBe(200);
  });

  it('of somebody who became a member meanwhile is refused as that of a member', async () => {
    const ada = await invitee();
    await people.addMember(ada.personId, platform.bootstrap.organization_id, [
      { workspaceId: null, roleId: PLATFORM_ROLES.organizationUser },
    ]);
    const session = await people.signIn(ada.personId);
    expect((await platform.callAs(session, 'POST', `${here()}/claim`)).status).toBe(409);
  });
});
