import { createHash, randomBytes } from 'node:crypto';
import { type AuditEvent, DEVICE_GRANT, type Operation, PRINCIPAL_HEADER, publicOperations } from '@runyard/contracts';
import { clientAddressHeaders } from '@runyard/service-kit';
import { Secret, TOTP } from 'otpauth';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { renderEvent } from '../src/audit/audit-event.ts';
import { csrfTokenOf } from '../src/sign-in/sessions/session-cookie.ts';
import { TestMailServer } from './support/mail-server.ts';
import { type FetchedPage, PageClient } from './support/page-client.ts';
import { TestPeople } from './support/people.ts';
import { INTERNAL_TOKEN, TestOrgAccess } from './support/platform.ts';
import { GROUP, ScimClient, USER } from './support/scim-client.ts';

const PASSWORD = 'seven grey herons asleep';
const OTHER_PASSWORD = 'a lighthouse keeps no diary';
const PROGRAM = 'langsmith-cli';
const USER_ROLE = PLATFORM_ROLES.organizationUser;

let mail: TestMailServer;
let platform: TestOrgAccess;
let people: TestPeople;
let scim: ScimClient;
beforeAll(async () => {
  mail = await TestMailServer.start();
  platform = await TestOrgAccess.start({
    environment: { SMTP_URL: mail.url, PUBLIC_URL: 'https://runyard.example.com/', FF_ORG_CREATION_DISABLED: 'false' },
  });
  people = await TestPeople.open(platform);
  scim = await ScimClient.create(platform);
});
afterAll(async () => {
  await people?.close();
  await platform?.close();
  await mail?.close();
});

/** Makes a change. @returns the organization in whose trail it stands */
type Story = () => Promise<string>;

let addresses = 0;
const newBrowser = () => new PageClient(platform.service.url, `198.51.100.${++addresses}`);
const here = () => platform.bootstrap.organization_id;

async function invite(email: string, organizationId: string, workspaceId?: string): Promise<string> {
  const [id, token] = [uuidv7(), randomBytes(32).toString('base64url')];
  await people.database.prisma.invite.create({
    data: {
      id,
      organizationId,
      email,
      organizationRoleId: USER_ROLE,
      tokenSha256: new Uint8Array(createHash('sha256').update(token).digest()),
      expiresAt: new Date(Date.now() + 60_000),
    },
  });
  if (workspaceId) {
    const place = { id: uuidv7(), workspaceId, inviteId: id, roleId: PLATFORM_ROLES.workspaceUser };
    await people.database.prisma.inviteWorkspace.create({ data: place });
  }
  return `/login/invite?token=${token}`;
}

/** Makes a person with a password, an organization, and a browser that is signed in. */
async function signUp() {
  const email = `${uuidv7()}@example.com`;
  const { organizationId, workspaceId } = await people.addOrganization();
  const browser = newBrowser();
  const page = await browser.open(await invite(email, organizationId));
  const account = await browser.submit('/login/invite', { full_name: 'Grace Hopper', password: PASSWORD }, page);
  expect(account).toMatchObject({ status: 200, path: '/auth/account' });
  const { id: personId } = await people.database.prisma.person.update({
    where: { email },
    data: { emailVerifiedAt: new Date() },
  });
  return { email, personId, organizationId, workspaceId, browser, account };
}

/** Calls an operation with the session of a browser, as the gateway does. */
async function call(browser: PageClient, method: string, path: string, body?: object): Promise<unknown> {
  const token = browser.sessionToken!;
  const verified = await platform.verify(token);
  const answer = await fetch(platform.service.url + path, {
    method,
    headers: {
      [PRINCIPAL_HEADER]: verified.body.token,
      'content-type': 'application/json',
      cookie: `runyard_session=${token}`,
      ...clientAddressHeaders(INTERNAL_TOKEN, '198.51.100.1'),
      'x-forwarded-host': '127.0.0.1',
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect(answer.status, `${method} ${path}: ${text}`).toBeLessThan(300);
  return text === '' ? undefined : JSON.parse(text);
}

/** Sets an authenticator app up. @returns its codes, the first of which confirmed it */
async function addAuthenticator(browser: PageClient, account: FetchedPage): Promise<(step: number) => string> {
  const setup = await browser.submit('/auth/account/authenticator', { current_password: PASSWORD }, account);
  const totp = new TOTP({ secret: Secret.fromBase32(/secret=([A-Z2-7]+)/.exec(setup.text)![1]!) });
  const codeAt = (step: number) => totp.generate({ timestamp: Date.now() + step * 30_000 });
  await browser.submit('/auth/account/authenticator/confirm', { code: codeAt(0) }, setup);
  return codeAt;
}

/** Makes a change of a person who signed in, in an organization of their own. */
const bySession = (change: (person: Awaited<ReturnType<typeof signUp>>) => Promise<unknown>): Story =>
  async function story() {
    const person = await signUp();
    await change(person);
    return person.organizationId;
  };

/** Makes a change of somebody who is invited into the default organization. */
const byInvitee = (change: (browser: PageClient) => Promise<unknown>): Story =>
  async function story() {
    const { email, browser } = await signUp();
    await invite(email, here(), platform.bootstrap.workspace_id);
    await change(browser);
    return here();
  };

/** Lets a program act for a person. @returns the fields of its request for tokens */
async function allowProgram({ browser }: { browser: PageClient }): Promise<Record<string, string>> {
  const asked = (await post('/oauth/device/code', { client_id: PROGRAM })) as {
    user_code: string;
    device_code: string;
  };
  const page = '/auth/device';
  const entry = await browser.open(`${page}?user_code=${asked.user_code}`);
  const question = await browser.submit(page, { user_code: asked.user_code }, entry);
  await browser.submit(page, { answer: 'accept' }, question);
  return { client_id: PROGRAM, grant_type: DEVICE_GRANT, device_code: asked.device_code };
}

async function post(path: string, fields: Record<string, string>): Promise<unknown> {
  const answer = await fetch(platform.service.url + path, { method: 'POST', body: new URLSearchParams(fields) });
  const text = await answer.text();
  expect(answer.status, `${path}: ${text}`).toBeLessThan(300);
  return text === '' ? undefined : JSON.parse(text);
}

const byScim = (change: (ids: { user: string; group: string; name: string }) => Promise<{ status: number }>): Story =>
  async function story() {
    const name = `scim-${uuidv7()}`;
    const [user, group] = [await scim.createUser(name), await scim.createGroup(`${name} group`)];
    const answer = await change({ user: user.body.id, group: group.body.id, name });
    expect(answer.status, JSON.stringify(answer)).toBeLessThan(300);
    return here();
  };

const STORIES: Record<string, Story> = {
  createOrganization: async () => {
    const { browser } = await signUp();
    return ((await call(browser, 'POST', '/api/v1/orgs', { display_name: 'Mine' })) as { id: string }).id;
  },
  claimMyInvite: byInvitee((browser) => call(browser, 'POST', `/api/v1/orgs/pending/${here()}/claim`)),
  declineMyInvite: byInvitee((browser) => call(browser, 'DELETE', `/api/v1/orgs/pending/${here()}`)),
  claimMyWorkspaceInvite: byInvitee((browser) =>
    call(browser, 'POST', `/api/v1/workspaces/pending/${platform.bootstrap.workspace_id}/claim`),
  ),
  declineMyWorkspaceInvite: byInvitee((browser) =>
    call(browser, 'DELETE', `/api/v1/workspaces/pending/${platform.bootstrap.workspace_id}`),
  ),
  createOwnAccessToken: bySession(({ browser }) => call(browser, 'POST', '/api/v1/api-key/current', {})),
  deleteOwnAccessToken: bySession(async ({ browser }) => {
    const { id } = (await call(browser, 'POST', '/api/v1/api-key/current', {})) as { id: string };
    await call(browser, 'DELETE', `/api/v1/api-key/current/${id}`);
  }),
  endSession: bySession(async ({ browser, personId }) => {
    const { id } = await people.signIn(personId);
    await call(browser, 'DELETE', `/api/v1/sessions/${id}`);
  }),
  endSessions: bySession(async ({ browser, personId }) => {
    await people.signIn(personId);
    await call(browser, 'DELETE', '/api/v1/sessions');
  }),
  signOut: bySession(({ browser }) => call(browser, 'DELETE', '/api/v1/sessions/current')),
  signOutAtProvider: bySession(({ browser }) => call(browser, 'POST', '/api/v1/sessions/current/logout')),
  answerDevice: bySession(allowProgram),
  issueOAuthTokens: bySession(async (person) => post('/oauth/token', await allowProgram(person))),
  revokeOAuthToken: bySession(async (person) => {
    const issued = (await post('/oauth/token', await allowProgram(person))) as { refresh_token: string };
    await post('/oauth/revoke', { client_id: PROGRAM, token: issued.refresh_token });
  }),
  chooseOrganization: bySession(({ browser, organizationId }) =>
    call(browser, 'PUT', '/api/v1/sessions/current/organization', { organization_id: organizationId }),
  ),
  signInByPassword: bySession(({ email }) => newBrowser().submit('/auth/password', { email, password: PASSWORD })),
  signInByBasicAuth: bySession(async ({ email }) => {
    const authorization = `Basic ${btoa(`${email}:${PASSWORD}`)}`;
    await fetch(`${platform.service.url}/api/v1/login`, { method: 'POST', headers: { authorization } });
  }),
  confirmSecondFactor: bySession(async ({ email, browser, account }) => {
    const codeAt = await addAuthenticator(browser, account);
    const next = newBrowser();
    await next.submit('/auth/password', { email, password: PASSWORD });
    await next.submit('/auth/second-factor', { code: codeAt(1) });
  }),
  signOutByForm: bySession(({ browser, account }) => browser.submit('/auth/sign-out', {}, account)),
  chooseOrganizationByForm: async () => {
    const { email, personId } = await signUp();
    const { organizationId } = await people.addOrganization('Second');
    await people.addMember(personId, organizationId, [{ workspaceId: null, roleId: USER_ROLE }]);
    const browser = newBrowser();
    const choice = await browser.submit('/auth/password', { email, password: PASSWORD });
    await browser.submit('/auth/organizations', { organization_id: organizationId }, choice);
    return organizationId;
  },
  setUp: async () => {
    const browser = newBrowser();
    const page = await browser.open(platform.bootstrap.administrator_setup_path!);
    await browser.submit('/auth/setup', { full_name: 'Ada', email: 'ada@example.com', password: PASSWORD }, page);
    return here();
  },
  answerInvite: async () => (await signUp()).organizationId,
  requestReset: bySession(({ email }) => newBrowser().submit('/auth/reset', { email })),
  setNewPassword: bySession(async ({ email }) => {
    const browser = newBrowser();
    await browser.submit('/auth/reset', { email });
    const page = await browser.open(await linkSentTo(email, '/auth/new-password'));
    await browser.submit('/auth/new-password', { password: OTHER_PASSWORD }, page);
  }),
  requestVerification: bySession(async ({ email, browser }) => {
    await people.database.prisma.person.update({ where: { email }, data: { emailVerifiedAt: null } });
    await browser.submit('/auth/account/verification', {}, await browser.open('/auth/account'));
  }),
  verifyAddress: bySession(async ({ email, browser }) => {
    await people.database.prisma.person.update({ where: { email }, data: { emailVerifiedAt: null } });
    await browser.submit('/auth/account/verification', {}, await browser.open('/auth/account'));
    const page = await browser.open(await linkSentTo(email, '/auth/verify'));
    await browser.submit('/auth/verify', { password: OTHER_PASSWORD }, page);
  }),
  changePassword: bySession(({ browser, account }) =>
    browser.submit('/auth/account/password', { current_password: PASSWORD, password: OTHER_PASSWORD }, account),
  ),
  endSessionByForm: bySession(async ({ browser, personId }) => {
    await people.signIn(personId);
    await browser.submit('/auth/account/sessions', {}, await browser.open('/auth/account'));
  }),
  confirmAuthenticator: bySession(({ browser, account }) => addAuthenticator(browser, account)),
  removeAuthenticator: bySession(async ({ browser, account }) => {
    await addAuthenticator(browser, account);
    const page = await browser.open('/auth/account');
    await browser.submit('/auth/account/authenticator/remove', { current_password: PASSWORD }, page);
  }),
  endSsoSession: bySession(async ({ browser }) => {
    const token = browser.sessionToken!;
    await browser.submit('/auth/v1/sso/logout', { csrf_token: csrfTokenOf(token) });
    expect(browser.sessionToken).toBeUndefined();
  }),
  createScimUser: byScim(({ name }) => scim.createUser(`${name}-2`)),
  replaceScimUser: byScim(({ user, name }) =>
    scim.send('PUT', `/Users/${user}`, {
      schemas: [USER],
      userName: `${name}-new`,
      emails: [{ type: 'work', value: `${name}@example.com` }],
    }),
  ),
  patchScimUser: byScim(({ user }) => scim.patch(`/Users/${user}`, { op: 'replace', path: 'active', value: false })),
  deleteScimUser: byScim(({ user }) => scim.send('DELETE', `/Users/${user}`)),
  createScimGroup: byScim(({ name }) => scim.createGroup(`${name} other`)),
  replaceScimGroup: byScim(({ group, user, name }) =>
    scim.send('PUT', `/Groups/${group}`, {
      schemas: [GROUP],
      displayName: `${name} group`,
      members: [{ value: user }],
    }),
  ),
  patchScimGroup: byScim(({ group, user }) =>
    scim.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: user }] }),
  ),
  deleteScimGroup: byScim(({ group }) => scim.send('DELETE', `/Groups/${group}`)),
};

/** The reason why an operation leaves no event, or where else that is tested. */
const WITHOUT_STORY: Record<string, string> = {
  ...Object.fromEntries(
    ['searchScimUsers', 'searchScimGroups', 'searchScim', 'lookUpSsoEmail', 'beginSignIn'].map((id) => [id, 'reads']),
  ),
  ...Object.fromEntries(
    ['postScimMe', 'putScimMe', 'patchScimMe', 'deleteScimMe', 'postScimBulk'].map((id) => [id, 'is always refused']),
  ),
  authorizeDevice: 'nobody has allowed the program anything yet',
  registerOAuthClient: 'nobody has allowed the client anything yet',
  answerAuthorization: 'mcp-clients.test.ts',
  ...Object.fromEntries(
    ['signInByPasskey', 'addPasskey', 'renamePasskey', 'removePasskey'].map((id) => [id, 'passkeys.test.ts']),
  ),
  ...Object.fromEntries(
    ['addPasskeyByForm', 'renamePasskeyByForm', 'removePasskeyByForm'].map((id) => [id, 'passkeys.test.ts']),
  ),
  ...Object.fromEntries(['beginPasskey', 'beginPasskeyByForm'].map((id) => [id, 'only asks for a passkey'])),
  sendSsoEmailVerification: 'sends a link by mail: account-emails.test.ts',
  confirmSsoEmail: 'does what verifyAddress does',
  getSsoEmailVerificationStatus: 'reads',
  refreshSession: 'the session stays as it is, with another token',
  issueAccessToken: 'the token is the session in another form, and ends with it',
  beginAuthenticator: 'nothing counts before the first code confirms it',
  receiveSamlResponse: 'sso-saml.test.ts',
  endSsoSessionsByProvider: 'sso-oidc.test.ts',
};

const isForPeople = ({ method, access, permission }: Operation) =>
  method !== 'get' && (access !== 'principal' || permission === 'signed-in person');
/** Events name an operation alike under both of its paths. */
const OPERATIONS = publicOperations('org-access').filter(isForPeople);
const IDS = new Set(OPERATIONS.map(({ operationId }) => operationId.replace(/Alias$/, '')));

describe('a change without a key', () => {
  it('has a story here, or a reason why it leaves no event', () => {
    const known = [...Object.keys(STORIES), ...Object.keys(WITHOUT_STORY)];
    expect(known.toSorted()).toEqual([...IDS].toSorted());
  });

  it.each(Object.keys(STORIES))('leaves an event with actor, address and request: %s', async (operation) => {
    const organizationId = await STORIES[operation]!();
    const stored = await people.database.prisma.auditEvent.findMany({ where: { organizationId, operation } });
    const events = stored.map(renderEvent);
    expect(events).not.toEqual([]);
    expect(events.filter((event) => !isWhole(event))).toEqual([]);
  });
});

/** Nobody knows yet who asks for a new password. */
const isWhole = (event: AuditEvent) =>
  (event.actor_id ?? event.credential_id ?? event.actor_kind === 'anonymous') &&
  event.address &&
  event.request_id &&
  event.request_path &&
  (event.before ?? event.after ?? event.details ?? event.action === 'session.entered');

/** Returns path and query of the last link that somebody got by email. */
async function linkSentTo(email: string, path: string): Promise<string> {
  const message = await mail.messageTo(email);
  return new RegExp(`https://runyard\\.example\\.com(${path}\\?token=[\\w-]+)`).exec(message)![1]!;
}
