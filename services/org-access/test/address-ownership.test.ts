import type { BasicMember, NewMember, OrgMember, PasskeyOptions, PendingOrganization } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { PASSWORD, TestAccounts } from './support/accounts.ts';
import { Intruder } from './support/intruder.ts';
import { TestMailServer } from './support/mail-server.ts';
import type { FetchedPage } from './support/page-client.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';
import { ScimClient, USER } from './support/scim-client.ts';
import type { SoftwareAuthenticator } from './support/software-authenticator.ts';

const OWN_PASSWORD = 'a lighthouse keeps no diary';

let platform: TestOrgAccess;
let people: TestPeople;
let accounts: TestAccounts;
let mail: TestMailServer;
let intruder: Intruder;
beforeAll(async () => {
  mail = await TestMailServer.start();
  platform = await TestOrgAccess.start({ environment: { SMTP_URL: mail.url } });
  people = await TestPeople.open(platform);
  accounts = new TestAccounts(platform, people);
  intruder = await Intruder.create(platform, people);
});
afterAll(async () => {
  await people?.close();
  await platform?.close();
  await mail?.close();
});

/** Returns path and query of the link to a page that somebody got by email. */
async function linkTo(path: string, email: string): Promise<string> {
  const link = () =>
    mail.messages
      .filter(({ to }) => to === email)
      .map(({ raw }) => new RegExp(`http://localhost:2024(${path}\\?token=[\\w-]+)`).exec(raw)?.[1])
      .find((found) => found !== undefined);
  await waitFor(() => link() !== undefined, { what: `the link to ${path}` });
  return link()!;
}

async function signInByPasskey(authenticator: SoftwareAuthenticator): Promise<FetchedPage> {
  const browser = accounts.newBrowser();
  const { text } = await browser.open('/auth/passkey');
  const options = /data-options="([^"]+)"/.exec(text)![1]!;
  const plain = options.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
  authenticator.counter += 1;
  const credential = JSON.stringify(authenticator.get(JSON.parse(plain) as PasskeyOptions));
  return browser.submit('/auth/passkey', { credential });
}

describe('whoever proves an address takes an account over that somebody else made for it', () => {
  const PROOFS: [string, (email: string, claimed: Awaited<ReturnType<Intruder['claimByAccount']>>) => Promise<void>][] =
    [
      [
        'by the link for a forgotten password',
        async (email) => {
          await accounts.newBrowser().submit('/auth/reset', { email });
          const browser = accounts.newBrowser();
          const page = await browser.open(await linkTo('/auth/new-password', email));
          await browser.submit('/auth/new-password', { password: OWN_PASSWORD }, page);
        },
      ],
      [
        'by the link that confirms the address',
        async (email, { browser: signedIn }) => {
          await signedIn.submit('/auth/account/verification', {}, await signedIn.open('/auth/account'));
          const browser = accounts.newBrowser();
          const page = await browser.open(await linkTo('/auth/verify', email));
          expect(page.text).toContain('type="password"');
          expect(await browser.submit('/auth/verify', {}, page)).toMatchObject({ status: 422 });
          const confirmed = await browser.submit('/auth/verify', { password: OWN_PASSWORD }, page);
          expect(confirmed).toMatchObject({ status: 200, text: expect.stringContaining('is confirmed') });
        },
      ],
    ];

  it.each(PROOFS)('%s: passkeys, second factors, sessions and tokens of before end', async (_, prove) => {
    const email = `${uuidv7()}@corp.example`;
    const claimed = await intruder.claimByAccount(email);
    expect(await signInByPasskey(claimed.passkey)).toMatchObject({ path: '/auth/account' });
    expect((await platform.verify(claimed.personalToken)).status).toBe(200);
    await platform.asAdmin<NewMember>('POST', '/api/v1/orgs/current/members', { email });

    await prove(email, claimed);
    expect(await signInByPasskey(claimed.passkey)).toMatchObject({ status: 401 });
    expect((await platform.verify(claimed.browser.sessionToken!)).status).toBe(401);
    expect((await platform.verify(claimed.personalToken)).status).toBe(401);
    const { ls_user_id: personId } = claimed.member;
    expect(await people.database.prisma.recoveryCode.count({ where: { personId } })).toBe(0);

    const owner = accounts.newBrowser();
    const account = await owner.submit('/auth/password', { email, password: OWN_PASSWORD });
    expect(account).toMatchObject({ path: '/auth/account' });
    expect(account.text).not.toContain('not confirmed');
    const session = { token: owner.sessionToken! };
    const pending = await platform.callAs<PendingOrganization[]>(session, 'GET', '/api/v1/orgs/pending');
    expect(pending.body.map(({ id }) => id)).toEqual([platform.bootstrap.organization_id]);
    const claim = `/api/v1/orgs/pending/${platform.bootstrap.organization_id}/claim`;
    expect((await platform.callAs<OrgMember>(session, 'POST', claim)).status).toBe(200);
  });

  it('by a program that confirms the address of a person of single sign-on: the account ends, and a link makes a new one', async () => {
    const email = `${uuidv7()}@corp.example`;
    const claimed = await intruder.claimByAccount(email);
    await claimed.browser.submit('/auth/account/verification', {}, await claimed.browser.open('/auth/account'));
    const token = (await linkTo('/auth/verify', email)).split('=')[1];
    const confirm = () => platform.anonymous('POST', '/api/v1/sso/email-verification/confirm', { token });
    expect([(await confirm()).status, (await confirm()).status]).toEqual([200, 400]);
    expect(await signInByPasskey(claimed.passkey)).toMatchObject({ status: 401 });
    await accounts.newBrowser().submit('/auth/reset', { email });
    const browser = accounts.newBrowser();
    const page = await browser.open(await linkTo('/auth/new-password', email));
    await browser.submit('/auth/new-password', { password: OWN_PASSWORD }, page);
    const signedIn = await accounts.newBrowser().submit('/auth/password', { email, password: OWN_PASSWORD });
    expect(signedIn).toMatchObject({ path: '/auth/account' });
  });

  it('while a person whose address is proven keeps passkeys and second factors with a new password', async () => {
    const email = `${uuidv7()}@corp.example`;
    const { passkey, member } = await intruder.claimByAccount(email);
    await people.database.prisma.person.update({
      where: { id: member.ls_user_id },
      data: { emailVerifiedAt: new Date() },
    });
    await accounts.newBrowser().submit('/auth/reset', { email });
    const browser = accounts.newBrowser();
    const page = await browser.open(await linkTo('/auth/new-password', email));
    await browser.submit('/auth/new-password', { password: OWN_PASSWORD }, page);
    expect(await signInByPasskey(passkey)).toMatchObject({ path: '/auth/account' });
  });
});

const MEMBERS = '/api/v1/orgs/current/members';
const here = () => platform.bootstrap.organization_id;
const newEmail = () => `${uuidv7()}@corp.example`;
const personIdOf = async (email: string) =>
  (await people.database.prisma.person.findUniqueOrThrow({ where: { email } })).id;
/** Returns the organizations in which a browser or a session may act. */
const organizationsOf = async (token: string) => {
  const { body } = await platform.callAs<{ id: string }[]>({ token }, 'GET', '/api/v1/orgs?skip_create=true');
  return body.map(({ id }) => id).sort();
};

describe('an address that another organization claimed, and nobody proved, is free to this organization', () => {
  it('a new person takes an invite up although another organization has added the address directly', async () => {
    const email = newEmail();
    const claimed = await intruder.call('POST', 'members', { email, direct: true });
    expect(claimed.status).toBe(200);
    const browser = accounts.newBrowser();
    const page = await browser.open(await accounts.invite(email, here()));
    const account = await browser.submit('/login/invite', { full_name: 'Grace', password: OWN_PASSWORD }, page);
    expect(account).toMatchObject({ status: 200, path: '/auth/account' });
    expect(await organizationsOf(browser.sessionToken!)).toEqual([here()]);
    expect((await platform.verify(browser.sessionToken!)).body.claims.organization_id).toBe(here());
    const again = await accounts.newBrowser().submit('/auth/password', { email, password: OWN_PASSWORD });
    expect(again).toMatchObject({ path: '/auth/account' });
  });

  it('an administrator makes an account for an address that another organization has added directly', async () => {
    const email = newEmail();
    await intruder.call('POST', 'members', { email, direct: true });
    const made = await platform.asAdmin('POST', `${MEMBERS}/basic/batch`, [{ email, password: OWN_PASSWORD }]);
    expect(made.status).toBe(200);
    const browser = accounts.newBrowser();
    await browser.submit('/auth/password', { email, password: OWN_PASSWORD });
    expect(await organizationsOf(browser.sessionToken!)).toEqual([here()]);
  });

  it('SCIM and administrators make somebody a member whose address has an account, which gets no way in by it', async () => {
    const scim = await ScimClient.create(platform);
    const name = uuidv7();
    const [byScim, byHand] = [`${name}@example.com`, newEmail()];
    for (const email of [byScim, byHand]) await intruder.claimByAccount(email);
    expect((await scim.createUser(name)).status).toBe(201);
    expect((await platform.asAdmin('POST', MEMBERS, { email: byHand, direct: true })).status).toBe(200);
    for (const email of [byScim, byHand]) {
      const { id, token } = await people.signIn(await personIdOf(email));
      expect(await organizationsOf(token)).toEqual([intruder.organizationId]);
      expect((await platform.verify(token, { organization_id: here() })).status).toBe(403);
      const sso = {
        organizationId: here(),
        providerId: uuidv7(),
        sessionId: null,
        subject: 'x',
        encryptedIdToken: null,
      };
      const bySso = await people.signIn(await personIdOf(email), { sso });
      const seen = await platform.callAs<{ id: string }[]>({ token }, 'GET', '/api/v1/sessions');
      expect(seen.body.map((session) => session.id)).toContain(id);
      expect(seen.body.map((session) => session.id)).not.toContain(bySso.id);
      await accounts.newBrowser().submit('/auth/reset', { email });
      const browser = accounts.newBrowser();
      const page = await browser.open(await linkTo('/auth/new-password', email));
      await browser.submit('/auth/new-password', { password: OWN_PASSWORD }, page);
      await browser.submit('/auth/password', { email, password: OWN_PASSWORD });
      expect(await organizationsOf(browser.sessionToken!)).toEqual([here(), intruder.organizationId].sort());
    }
  });

  it('administrators keep the accounts that they made, with names, passwords and second factors', async () => {
    const email = newEmail();
    const made = await platform.asAdmin<BasicMember[]>('POST', `${MEMBERS}/basic/batch`, [{ email }]);
    const path = `${MEMBERS}/${made.body[0]!.id}`;
    expect((await intruder.call('POST', 'members', { email, direct: true })).status).toBe(200);
    expect((await platform.asAdmin('PATCH', path, { full_name: 'Grace', password: OWN_PASSWORD })).status).toBe(200);
    expect((await platform.asAdmin('POST', `${path}/password-link`)).status).toBe(200);
    expect((await platform.asAdmin('DELETE', `${path}/second-factors`)).status).toBe(204);
    const browser = accounts.newBrowser();
    await browser.submit('/auth/password', { email, password: OWN_PASSWORD });
    expect(await organizationsOf(browser.sessionToken!)).toEqual([here()]);
  });

  it('and the other organization gets no hold of an account by adding its address', async () => {
    const { email, browser } = await accounts.signUp(newEmail());
    const added = await intruder.call<NewMember>('POST', 'members', { email, direct: true });
    const path = `members/${added.body.id}`;
    expect((await intruder.call('PATCH', path, { password: OWN_PASSWORD })).status).toBe(409);
    expect((await intruder.call('POST', `${path}/password-link`)).status).toBe(409);
    expect((await intruder.call('DELETE', `${path}/second-factors`)).status).toBe(409);
    expect((await intruder.call('PATCH', path, { full_name: 'Somebody Else' })).status).toBe(403);
    expect((await platform.verify(browser.sessionToken!)).status).toBe(200);
  });

  it('SCIM moves its member to another address, and the other organization keeps the person it added', async () => {
    const scim = await ScimClient.create(platform);
    const name = uuidv7();
    const { body: user } = await scim.createUser(name);
    const added = await intruder.call<NewMember>('POST', 'members', { email: `${name}@example.com`, direct: true });
    const emails = [{ type: 'work', value: `new-${name}@example.com` }];
    const moved = await scim.send('PUT', `/Users/${user.id}`, { schemas: [USER], userName: name, emails });
    expect(moved.status).toBe(200);
    const active = await platform.asAdmin<OrgMember[]>('GET', `${MEMBERS}/active?emails=new-${name}@example.com`);
    expect(active.body).toHaveLength(1);
    const theirs = await intruder.call<OrgMember[]>('GET', `members/active?emails=${name}@example.com`);
    expect(theirs.body.map(({ id }) => id)).toEqual([added.body.id]);
  });
});

describe('what another organization does with a person', () => {
  /** Signs a person up here, whom the other organization adds. */
  async function shared() {
    const person = await accounts.signUp(newEmail());
    const personId = await personIdOf(person.email);
    await people.database.prisma.person.update({ where: { id: personId }, data: { emailVerifiedAt: new Date() } });
    const added = await intruder.call<NewMember>('POST', 'members', { email: person.email, direct: true });
    return { ...person, personId, identityId: added.body.id };
  }

  it('ends no session but those of its own identity providers, and changes no choice of the organization', async () => {
    const { email, browser, personId, identityId, organizationId } = await shared();
    const next = await accounts.newBrowser().submit('/auth/password', { email, password: PASSWORD });
    expect(next.text).toContain('You act in the organization Acme');
    const ofProvider = (id: string) => {
      const sso = { organizationId: id, providerId: uuidv7(), sessionId: null, subject: 'x', encryptedIdToken: null };
      return people.signIn(personId, { sso });
    };
    const [here, theirs] = [await ofProvider(organizationId), await ofProvider(intruder.organizationId)];
    const role_id = PLATFORM_ROLES.organizationViewer;
    expect((await intruder.call('PATCH', `members/${identityId}`, { role_id })).status).toBe(200);
    expect((await platform.verify(theirs.token)).status).toBe(401);
    for (const token of [browser.sessionToken!, here.token]) {
      expect((await platform.verify(token)).body.claims.organization_id).toBe(organizationId);
    }
    expect((await intruder.call('DELETE', `members/${identityId}`)).status).toBe(200);
    for (const token of [browser.sessionToken!, here.token]) expect((await platform.verify(token)).status).toBe(200);
  });

  it('shows it nothing of sign-ins and of changes of the account, which the organization of the session records', async () => {
    const { email, browser, account, personId, organizationId } = await shared();
    const about = (id: string) =>
      people.database.prisma.auditEvent.count({ where: { organizationId: id, resourceId: personId } });
    const before = await about(organizationId);
    await accounts.newBrowser().submit('/auth/password', { email, password: 'not the password' });
    await accounts.newBrowser().submit('/auth/password', { email, password: PASSWORD });
    const form = { current_password: PASSWORD, password: OWN_PASSWORD };
    await browser.submit('/auth/account/password', form, account);
    expect(await about(organizationId)).toBe(before + 3);
    expect(await about(intruder.organizationId)).toBe(0);
  });

  it('shows it no login at the provider of another organization, and finds nobody by one', async () => {
    const { email, personId, organizationId } = await shared();
    const { id: ssoProviderId } = await people.database.prisma.ssoProvider.create({
      data: {
        ...{ id: uuidv7(), organizationId, displayName: 'IdP', protocol: 'saml', configuration: {} },
        ...{ defaultWorkspaceIds: [], defaultWorkspaceRoleId: PLATFORM_ROLES.workspaceUser },
      },
    });
    const login = { id: uuidv7(), personId, ssoProviderId, issuer: 'x', subject: email, email: 'ada@private.example' };
    await people.database.prisma.login.create({
      data: { ...login, provider: 'supabase:sso', provisioning: 'saml:jit' },
    });
    const active = await intruder.call<OrgMember[]>('GET', `members/active?emails=${email}`);
    expect(active.body[0]!.linked_login_methods.map(({ provider }) => provider)).toEqual(['email']);
    expect((await intruder.call<OrgMember[]>('GET', `members/active?user_ids=${login.id}`)).body).toEqual([]);
    const all = await intruder.call('GET', 'members');
    expect(JSON.stringify(all.body)).not.toContain('ada@private.example');
  });

  it('is in the trail of the person alone while they act in none of several organizations', async () => {
    const { email, personId, organizationId } = await shared();
    const second = await people.addOrganization();
    await people.addMember(personId, second.organizationId, [
      { workspaceId: null, roleId: PLATFORM_ROLES.organizationUser },
    ]);
    const signIn = () => accounts.newBrowser().submit('/auth/password', { email, password: PASSWORD });
    const signInsIn = (trail: string) =>
      people.database.prisma.auditEvent.count({
        where: { organizationId: trail, resourceId: personId, action: 'sign_in.allowed' },
      });
    const before = await signInsIn(organizationId);
    await signIn();
    expect(await signInsIn(personId)).toBe(1);
    await people.signIn(personId, { organizationId: second.organizationId });
    await signIn();
    expect([await signInsIn(personId), await signInsIn(second.organizationId)]).toEqual([1, 1]);
    expect(await signInsIn(organizationId)).toBe(before);
  });
});
