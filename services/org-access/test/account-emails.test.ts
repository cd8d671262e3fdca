import { randomBytes } from 'node:crypto';
import type { NewMember, SsoEmailVerificationStatus } from '@runyard/contracts';
import { createEventBus } from '@runyard/event-bus';
import { clientAddressHeaders, silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { TestAccounts } from './support/accounts.ts';
import { TestMailServer } from './support/mail-server.ts';
import { TestPeople } from './support/people.ts';
import { INTERNAL_TOKEN, TestOrgAccess } from './support/platform.ts';

const SMTP_PASSWORD = randomBytes(24).toString('hex');

let platform: TestOrgAccess;
let people: TestPeople;
let accounts: TestAccounts;
let mail: TestMailServer;
beforeAll(async () => {
  mail = await TestMailServer.start(0, { login: { user: 'runyard', password: SMTP_PASSWORD } });
  platform = await TestOrgAccess.start({
    environment: { SMTP_URL: mail.url, PUBLIC_URL: 'https://runyard.example.com/' },
  });
  people = await TestPeople.open(platform);
  accounts = new TestAccounts(platform, people);
});
afterAll(async () => {
  await people?.close();
  await platform?.close();
  await mail?.close();
});

const tokenIn = (message: string) => /token=([\w-]+)/.exec(message)![1]!;
const timed = async <T>(work: () => Promise<T>) => {
  const begun = performance.now();
  return { answer: await work(), ms: performance.now() - begun };
};

it('who asks for a new password gets the same page, as late, whether there is an account or not', async () => {
  const { email } = await accounts.signUp();
  const ask = (address: string) => timed(() => accounts.newBrowser().submit('/auth/reset', { email: address }));
  const [known, unknown] = [await ask(email), await ask('nobody@example.com')];
  expect(unknown.answer.text).toBe(known.answer.text);
  expect(Math.min(known.ms, unknown.ms)).toBeGreaterThanOrEqual(249);
  const message = await mail.messageTo(email);
  expect(message).toContain('https://runyard.example.com/auth/new-password?token=');
  const password = 'a lighthouse keeps no diary';
  const set = () => accounts.newBrowser().submit('/auth/new-password', { token: tokenIn(message), password });
  expect(await set()).toMatchObject({ status: 200, text: expect.stringContaining('is set') });
  expect(await set()).toMatchObject({ status: 400 });
});

it('an address that cannot be stored is refused, and is no fault of the service', async () => {
  const answer = await accounts.newBrowser().submit('/auth/reset', { email: 'a\u0000b@example.com' });
  expect(answer.status).toBe(422);
});

async function post<Body>(path: string, body: object, address = '192.0.2.1') {
  const answer = await fetch(`${platform.service.url}/api/v1/sso/email-verification/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...clientAddressHeaders(INTERNAL_TOKEN, address) },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Body };
}

/** Makes a member who signs in by the provider of an organization, which proves the address to nobody else. */
async function makeSsoMember() {
  const email = `${uuidv7()}@example.com`;
  const personId = await people.addPerson(email);
  const { organizationId } = await people.addOrganization('Babbage');
  await people.addMember(personId, organizationId, []);
  const { id: providerId } = await people.database.prisma.ssoProvider.create({
    data: {
      ...{ id: uuidv7(), organizationId, displayName: 'IdP', protocol: 'saml', configuration: {} },
      ...{ defaultWorkspaceIds: [], defaultWorkspaceRoleId: PLATFORM_ROLES.workspaceUser },
    },
  });
  const login = { personId, ssoProviderId: providerId, issuer: 'x', subject: email, email };
  await people.database.prisma.login.create({
    data: { ...login, id: uuidv7(), provider: 'supabase:sso', provisioning: 'saml:jit' },
  });
  return { email, personId, saml_provider_id: providerId };
}

it('a person who signs in by single sign-on confirms the address by a link, once, and the status says when', async () => {
  const { personId, ...member } = await makeSsoMember();
  const statusOf = async () => (await post<SsoEmailVerificationStatus>('status', member)).body.email_confirmed_at;
  expect(await statusOf()).toBeNull();
  const upper = {
    ...member,
    email: member.email.toUpperCase(),
    saml_provider_id: member.saml_provider_id.toUpperCase(),
  };
  expect(await post('send', upper)).toEqual({ status: 202, body: {} });
  const message = await mail.messageTo(member.email);
  expect(message).toContain('single sign-on of Babbage');
  const sent = { action: 'email.verification_requested', resourceId: personId };
  expect(await people.database.prisma.auditEvent.count({ where: sent })).toBe(1);
  expect(await statusOf()).toBeNull();
  const confirm = () => post('confirm', { token: tokenIn(message) });
  const twice = await Promise.all([confirm(), confirm()]);
  expect(twice.map(({ status }) => status).sort()).toEqual([200, 400]);
  const { emailVerifiedAt } = await people.database.prisma.person.findUniqueOrThrow({ where: { id: personId } });
  expect(emailVerifiedAt).not.toBeNull();
  expect(Math.abs(Date.parse((await statusOf())!) - emailVerifiedAt!.getTime())).toBeLessThan(5_000);
  const elsewhere = { ...member, saml_provider_id: uuidv7() };
  expect((await post<SsoEmailVerificationStatus>('status', elsewhere)).body.email_confirmed_at).toBeNull();
});

it('a link proves the address that it was sent to, and none to which a provider moves the person meanwhile', async () => {
  const { personId, ...member } = await makeSsoMember();
  await post('send', member);
  const message = await mail.messageTo(member.email);
  const email = `${uuidv7()}@victim.example`;
  await people.database.prisma.person.update({ where: { id: personId }, data: { email } });
  expect(await post('confirm', { token: tokenIn(message) })).toMatchObject({ status: 400 });
  const person = await people.database.prisma.person.findUniqueOrThrow({ where: { id: personId } });
  expect(person.emailVerifiedAt).toBeNull();
});

it('nobody learns by it who signs in by a provider, and an address gets few links', async () => {
  const { personId, ...member } = await makeSsoMember();
  await people.database.prisma.person.update({ where: { id: personId }, data: { emailVerifiedAt: new Date() } });
  const sent = mail.messages.length;
  const unknown = { ...member, email: 'nobody@example.org' };
  for (const named of [member, unknown]) {
    const { answer, ms } = await timed(() => post('send', named));
    expect(answer).toEqual({ status: 202, body: {} });
    expect(ms).toBeGreaterThanOrEqual(249);
    expect((await post('status', named)).body).toEqual({ email_confirmed_at: null });
  }
  expect(mail.messages).toHaveLength(sent);
  expect(await post('send', { email: 'x' })).toMatchObject({ status: 422 });
  expect(await post('confirm', { token: 'none' })).toMatchObject({ status: 400 });
  const again = await Promise.all([1, 2, 3].map(() => post('send', unknown)));
  expect(again.map(({ status }) => status)).toContain(429);
});

it('strangers use up nothing of what a person may ask for, ask for few emails, and do not ask on and on', async () => {
  const { personId, ...member } = await makeSsoMember();
  const stranger = await Promise.all([1, 2, 3, 4, 5].map(() => post('send', member, '203.0.113.1')));
  expect(stranger.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
  expect(await post('send', member, '203.0.113.2')).toMatchObject({ status: 202 });
  // Each at an address of its own: together they fill no mailbox.
  const several = await Promise.all(
    Array.from({ length: 12 }, (_, index) => post('send', member, `203.0.113.${10 + index}`)),
  );
  expect(several.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
  const { browser, email } = await accounts.signUp();
  const ssoOfOwner = { email, saml_provider_id: member.saml_provider_id };
  for (const index of [1, 2, 3, 4]) await post('send', ssoOfOwner, `203.0.113.${30 + (index % 2)}`);
  const own = await browser.submit('/auth/account/verification', {}, await browser.open('/auth/account'));
  expect(own).toMatchObject({ status: 200, text: expect.stringContaining('sent a link') });
  const asked = await Promise.all(Array.from({ length: 102 }, () => post('status', member, '203.0.113.40')));
  expect(asked.map(({ status }) => status)).toContain(429);
  expect(await post('status', member, '203.0.113.41')).toMatchObject({ status: 200 });
});

it('no token that was emailed, and not the login of the mail server, is in a log, an event or the database', async () => {
  const invited = `${uuidv7()}@example.com`;
  await platform.asAdmin<NewMember>('POST', '/api/v1/orgs/current/members', { email: invited });
  const { browser, email, organizationId } = await accounts.signUp();
  await accounts.newBrowser().submit('/auth/reset', { email });
  await browser.submit('/auth/account/verification', {}, await browser.open('/auth/account'));
  const tokensTo = (address: string) => mail.messages.filter(({ to }) => to === address).map(({ raw }) => tokenIn(raw));
  await waitFor(() => tokensTo(invited).length === 1 && tokensTo(email).length === 2, { what: 'the emails' });
  const wrong = randomBytes(24).toString('hex');
  for (const path of ['/auth/new-password', '/auth/verify', '/login/invite'])
    await accounts.newBrowser().open(`${path}?token=${wrong}`);

  const bus = createEventBus(platform.bus, { logger: silentLogger });
  const events: string[] = [];
  const onEvent = async (event: unknown) => void events.push(JSON.stringify(event));
  await bus.subscribe({ topics: ['organizations', 'audit'], group: 'test', from: 'earliest', onEvent });
  const isLast = (event: string) => event.includes('email.verification_requested') && event.includes(organizationId);
  await waitFor(() => events.some(isLast), { what: 'the last event' });
  await bus.close();
  const seen = [platform.output(), await platform.dump(), ...events].join();
  for (const secret of [SMTP_PASSWORD, wrong, ...mail.messages.map(({ raw }) => tokenIn(raw))])
    for (const form of [secret, Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')])
      expect(seen).not.toContain(form);
});
