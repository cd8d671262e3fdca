import type { AddedPasskey, Passkey, PasskeyOptions } from '@runyard/contracts';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RelyingParty } from '../src/sign-in/accounts/relying-party.ts';
import { PASSWORD, type SignedUp, TestAccounts } from './support/accounts.ts';
import { whileLocked } from './support/locked-rows.ts';
import type { FetchedPage, PageClient } from './support/page-client.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';
import { SoftwareAuthenticator } from './support/software-authenticator.ts';

const PATH = '/api/v1/passkeys';

let platform: TestOrgAccess;
let people: TestPeople;
let accounts: TestAccounts;
beforeAll(async () => {
  platform = await TestOrgAccess.start();
  people = await TestPeople.open(platform);
  accounts = new TestAccounts(platform, people);
});
afterAll(async () => {
  await people?.close();
  await platform?.close();
});

const call = <Body>({ browser }: Pick<SignedUp, 'browser'>, method: string, path: string, body?: unknown) =>
  platform.callAs<Body>({ token: browser.sessionToken! }, method, path, body);
const begin = async (person: SignedUp) =>
  (await call<PasskeyOptions>(person, 'POST', `${PATH}/options`, { current_password: PASSWORD })).body;
const add = async (person: SignedUp, authenticator: SoftwareAuthenticator, name = 'Laptop') =>
  call<AddedPasskey>(person, 'POST', PATH, { name, credential: authenticator.create(await begin(person)) });

/** Makes a person with an account and a passkey. */
async function signUp(authenticator = new SoftwareAuthenticator()) {
  const person = await accounts.signUp();
  const { status, body } = await add(person, authenticator);
  expect(status).toBe(201);
  return { ...person, authenticator, passkey: body.passkey, codes: body.recovery_codes! };
}

/** Returns what a page hands to the browser's authenticator. */
function optionsOn({ text }: FetchedPage): PasskeyOptions {
  const options = /data-options="([^"]+)"/.exec(text)?.[1];
  if (options === undefined) throw new Error(`no options on ${text}`);
  return JSON.parse(options.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))));
}

async function signIn(authenticator: SoftwareAuthenticator, browser = accounts.newBrowser()): Promise<FetchedPage> {
  const page = await browser.open('/auth/passkey');
  const credential = JSON.stringify(authenticator.get(optionsOn(page)));
  return browser.submit('/auth/passkey', { credential });
}

async function givePassword(email: string, browser: PageClient): Promise<FetchedPage> {
  return browser.submit('/auth/password', { email, password: PASSWORD });
}

const detailsOf = async (organizationId: string) => {
  const [event] = await people.database.prisma.auditEvent.findMany({
    where: { organizationId },
    orderBy: { sequence: 'desc' },
    take: 1,
  });
  return { action: event!.action, ...(event!.details as object) };
};

describe('a passkey', () => {
  it('is added with the password, and with the first one the other sessions end and recovery codes are made', async () => {
    const person = await accounts.signUp();
    const other = accounts.newBrowser();
    await givePassword(person.email, other);
    const wrong = await call(person, 'POST', `${PATH}/options`, { current_password: 'x' });
    expect(wrong.status).toBe(401);
    const first = await add(person, new SoftwareAuthenticator());
    expect(first).toMatchObject({ status: 201, body: { passkey: { name: 'Laptop', last_used_at: null } } });
    expect(first.body.recovery_codes).toHaveLength(10);
    expect((await other.open('/auth/account')).path).toContain('/login');
    const second = await add(person, new SoftwareAuthenticator(), 'Phone');
    expect(second.body.recovery_codes).toBeNull();
    const listed = await call<Passkey[]>(person, 'GET', PATH);
    expect(listed.body.map(({ name }) => name)).toEqual(['Laptop', 'Phone']);
    expect(
      (await accounts.actionsOf(person.organizationId)).filter(([action]) => action === 'passkey.added'),
    ).toHaveLength(2);
  });

  it('is renamed, and removed with the password; after the last factor a password signs in alone again', async () => {
    const person = await signUp();
    const path = `${PATH}/${person.passkey.id}`;
    expect((await call(person, 'PATCH', path, { name: ' Old one ' })).body).toMatchObject({ name: 'Old one' });
    expect((await call(person, 'PATCH', path, { name: ' ' })).status).toBe(422);
    const stranger = await accounts.signUp();
    expect((await call(stranger, 'PATCH', path, { name: 'x' })).status).toBe(404);
    expect((await call(stranger, 'DELETE', path, { current_password: PASSWORD })).status).toBe(404);
    expect((await call(person, 'DELETE', path, { current_password: 'x' })).status).toBe(401);
    expect((await givePassword(person.email, accounts.newBrowser())).path).toContain('/auth/second-factor');
    expect((await call(person, 'DELETE', path, { current_password: PASSWORD })).status).toBe(204);
    expect((await givePassword(person.email, accounts.newBrowser())).path).toBe('/auth/account');
    expect(await signIn(person.authenticator)).toMatchObject({ status: 401 });
    const { id: personId } = await people.database.prisma.person.findUniqueOrThrow({ where: { email: person.email } });
    expect(await people.database.prisma.recoveryCode.count({ where: { personId } })).toBe(0);
    expect((await accounts.actionsOf(person.organizationId)).map(([action]) => action)).toEqual(
      expect.arrayContaining(['passkey.renamed', 'passkey.removed']),
    );
  });

  it('is added only for the challenge, the site and the session that asked, once, and without certificates', async () => {
    const person = await accounts.signUp();
    const send = (credential: object) => call(person, 'POST', PATH, { name: 'Laptop', credential });
    const elsewhere = new SoftwareAuthenticator();
    elsewhere.origin = 'https://evil.localhost';
    expect(await send(elsewhere.create(await begin(person)))).toMatchObject({ status: 400 });
    const otherSite = new SoftwareAuthenticator();
    otherSite.rpId = 'evil.localhost';
    expect(await send(otherSite.create(await begin(person)))).toMatchObject({ status: 400 });
    const vouched = { fmt: 'packed', attStmt: new Map([['x5c', [new Uint8Array([1])]]]) };
    expect(await send(new SoftwareAuthenticator().create(await begin(person), vouched))).toMatchObject({ status: 400 });
    const stranger = await accounts.signUp();
    expect(await send(new SoftwareAuthenticator().create(await begin(stranger)))).toMatchObject({ status: 400 });
    const late = new SoftwareAuthenticator().create(await begin(person));
    await people.database.prisma.oneTimeToken.updateMany({
      where: { purpose: 'passkey', usedAt: null },
      data: { expiresAt: new Date() },
    });
    expect(await send(late)).toMatchObject({ status: 400 });
    const good = new SoftwareAuthenticator().create(await begin(person));
    const twice = await Promise.all([send(good), send(good)]);
    expect(twice.map(({ status }) => status).sort()).toEqual([201, 400]);
    const again = new SoftwareAuthenticator();
    expect(await add(person, again)).toMatchObject({ status: 201 });
    expect(await send(again.create(await begin(person)))).toMatchObject({ status: 409 });
    for (const credential of [{}, { ...good, response: { ...good.response, attestationObject: 'AA' } }])
      expect([400, 422]).toContain((await send(credential)).status);
  });

  it('is not added by a session that ends meanwhile', async () => {
    const person = await accounts.signUp();
    const credential = new SoftwareAuthenticator().create(await begin(person));
    const { id } = await people.database.prisma.person.findUniqueOrThrow({ where: { email: person.email } });
    const { sent } = await whileLocked(people, { table: 'person', value: id }, async ({ transaction, waiting }) => {
      const sent = call(person, 'POST', PATH, { name: 'Laptop', credential });
      await waiting(1);
      await transaction.session.updateMany({ where: { personId: id }, data: { endedAt: new Date() } });
      return { sent };
    });
    expect((await sent).status).toBe(401);
    expect(await people.database.prisma.passkey.count({ where: { personId: id } })).toBe(0);
  });

  it('keeps its recovery codes when an authenticator app is set up as well', async () => {
    const { browser, account, codes, email } = await signUp();
    const setup = await browser.submit('/auth/account/authenticator', { current_password: PASSWORD }, account);
    const secret = Secret.fromBase32(/secret=([A-Z2-7]+)/.exec(setup.text)![1]!);
    const code = new TOTP({ secret }).generate();
    const confirmed = await browser.submit('/auth/account/authenticator/confirm', { code }, setup);
    expect(confirmed.text).toContain('Your recovery codes stay');
    const next = accounts.newBrowser();
    await givePassword(email, next);
    expect((await next.submit('/auth/second-factor', { code: codes[0]! })).path).toBe('/auth/account');
  });

  it('is none of an account without a password, and no session of an identity provider adds one', async () => {
    const personId = await people.addPerson();
    const { organizationId } = await people.addOrganization();
    await people.addMember(personId, organizationId, []);
    const ask = async (session: { token: string }) =>
      platform.callAs({ ...session, organizationId }, 'POST', `${PATH}/options`, { current_password: '' });
    expect(await ask(await people.signIn(personId))).toMatchObject({ status: 409 });
    const sso = { organizationId, providerId: null, sessionId: null, subject: 'x', encryptedIdToken: null };
    const session = await people.signIn(personId, { sso: sso as never });
    expect(await ask(session)).toMatchObject({ status: 403 });
    expect(await platform.callAs(session, 'GET', PATH)).toMatchObject({ status: 403 });
  });
});

describe('sign-in with a passkey', () => {
  it('opens a session without password and code, and says so in the trail', async () => {
    const { authenticator, organizationId, passkey, ...person } = await signUp();
    authenticator.counter = 2;
    const browser = accounts.newBrowser();
    expect(await signIn(authenticator, browser)).toMatchObject({ status: 200, path: '/auth/account' });
    const { body } = await platform.verify(browser.sessionToken!);
    expect(body.claims).toMatchObject({ organization_id: organizationId, kind: 'session' });
    const decided = { action: 'sign_in.allowed', step: 4, method: 'passkey', passkeyId: passkey.id };
    expect(await detailsOf(organizationId)).toMatchObject(decided);
    const [listed] = (await call<Passkey[]>(person, 'GET', PATH)).body;
    expect(listed!.last_used_at).not.toBeNull();
  });

  it('leaves no session that outlives a new password at the same time', async () => {
    const { authenticator, ...person } = await signUp();
    authenticator.counter = 2;
    const browser = accounts.newBrowser();
    const { id } = await people.database.prisma.person.findUniqueOrThrow({ where: { email: person.email } });
    const login = { table: 'login', column: 'person_id', value: id };
    const sent = await whileLocked(people, login, async ({ waiting }) => {
      const signedIn = signIn(authenticator, browser);
      await waiting(1);
      const form = { current_password: PASSWORD, password: 'a lighthouse keeps no diary' };
      const changed = person.browser.submit('/auth/account/password', form, person.account);
      await Promise.race([changed, waiting(2)]);
      return { signedIn, changed };
    });
    expect((await sent.changed).text).toContain('password is changed');
    await sent.signedIn;
    expect((await browser.open('/auth/account')).path).toContain('/login');
  });

  it('needs a check of the person, unless the password was given', async () => {
    const { authenticator, email, organizationId } = await signUp();
    Object.assign(authenticator, { counter: 2, verifiesPerson: false });
    expect(await signIn(authenticator)).toMatchObject({ status: 401 });
    expect(await detailsOf(organizationId)).toMatchObject({ action: 'sign_in.denied', step: 1, fault: 'proof_wrong' });
    const browser = accounts.newBrowser();
    const page = await givePassword(email, browser);
    const credential = JSON.stringify(authenticator.get(optionsOn(page)));
    expect(await browser.submit('/auth/second-factor', { credential })).toMatchObject({ path: '/auth/account' });
    expect(await detailsOf(organizationId)).toMatchObject({ action: 'sign_in.allowed', factor: 'passkey' });
  });

  it('is refused to a copy, whose counter went back, and not to an authenticator without a counter', async () => {
    const { authenticator, organizationId } = await signUp();
    authenticator.counter = 7;
    expect((await signIn(authenticator)).path).toBe('/auth/account');
    for (const counter of [7, 6, 0]) {
      authenticator.counter = counter;
      expect(await signIn(authenticator), `${counter}`).toMatchObject({ status: 401 });
      const denial = { action: 'sign_in.denied', fault: 'counter_went_back' };
      expect(await detailsOf(organizationId)).toMatchObject(denial);
    }
    const without = new SoftwareAuthenticator();
    without.counter = 0;
    await signUp(without);
    for (const _ of [1, 2]) expect((await signIn(without)).path).toBe('/auth/account');
  });

  it('takes an answer once, in time, and from the browser that was asked', async () => {
    const { authenticator } = await signUp();
    authenticator.counter = 2;
    const browser = accounts.newBrowser();
    const credential = JSON.stringify(authenticator.get(optionsOn(await browser.open('/auth/passkey'))));
    const elsewhere = accounts.newBrowser();
    await elsewhere.open('/auth/passkey');
    expect(await elsewhere.submit('/auth/passkey', { credential })).toMatchObject({ status: 400 });
    expect(elsewhere.sessionToken).toBeUndefined();
    const cookie = browser.cookies.get('runyard_passkey')!;
    expect(await browser.submit('/auth/passkey', { credential })).toMatchObject({ path: '/auth/account' });
    expect(browser.cookies.has('runyard_passkey')).toBe(false);
    const thief = accounts.newBrowser();
    thief.cookies.set('runyard_passkey', cookie);
    expect(await thief.submit('/auth/passkey', { credential })).toMatchObject({ status: 400 });
    const late = accounts.newBrowser();
    const page = await late.open('/auth/passkey');
    await people.database.prisma.oneTimeToken.updateMany({
      where: { purpose: 'passkey', usedAt: null },
      data: { expiresAt: new Date() },
    });
    authenticator.counter = 3;
    const answer = { credential: JSON.stringify(authenticator.get(optionsOn(page))) };
    expect(await late.submit('/auth/passkey', answer)).toMatchObject({ status: 400 });
  });

  it('is refused with a proof for another site, of another key or person, and with nonsense', async () => {
    const { authenticator, email } = await signUp();
    const other = await signUp();
    authenticator.counter = 2;
    const attempt = async (forge: (options: PasskeyOptions) => unknown) => {
      const browser = accounts.newBrowser();
      const options = optionsOn(await browser.open('/auth/passkey'));
      const page = await browser.submit('/auth/passkey', { credential: JSON.stringify(forge(options)) });
      return [page.status, browser.sessionToken];
    };
    const changed = (change: object) => (options: PasskeyOptions) => {
      const good = authenticator.get(options);
      return { ...good, response: { ...good.response, ...change } };
    };
    const foreign = other.authenticator.get({ challenge: 'x' });
    const faults = [
      changed({ signature: foreign.response.signature }),
      changed({ userHandle: foreign.response.userHandle }),
      changed({ authenticatorData: 'AAAA' }),
      (options: PasskeyOptions) => ({ ...authenticator.get(options), id: foreign.id, rawId: foreign.id }),
      (options: PasskeyOptions) => new SoftwareAuthenticator().get(options),
      () => 'nonsense',
      () => ({ id: 'x' }),
    ];
    for (const forge of faults) expect(await attempt(forge)).toEqual([401, undefined]);
    authenticator.origin = 'https://evil.localhost';
    expect(await attempt((options) => authenticator.get(options))).toEqual([401, undefined]);

    const browser = accounts.newBrowser();
    const page = await givePassword(email, browser);
    const credential = JSON.stringify(other.authenticator.get(optionsOn(page)));
    expect(await browser.submit('/auth/second-factor', { credential })).toMatchObject({ status: 401 });
  });

  it('is denied to who is disabled everywhere, and leads into no organization that wants single sign-on', async () => {
    const { authenticator, organizationId, email } = await signUp();
    authenticator.counter = 2;
    await people.database.prisma.organization.update({ where: { id: organizationId }, data: { ssoOnly: true } });
    const page = await signIn(authenticator);
    expect(page.text).toContain('You belong to no organization yet');
    await people.database.prisma.identity.updateMany({ where: { organizationId }, data: { disabledAt: new Date() } });
    authenticator.counter = 3;
    expect(await signIn(authenticator)).toMatchObject({ status: 403, text: expect.stringContaining('disabled') });
    expect(await detailsOf(organizationId)).toMatchObject({ action: 'sign_in.denied', step: 2 });
    expect(await givePassword(email, accounts.newBrowser())).toMatchObject({ status: 403 });
  });

  it('pauses after a few bad proofs of a passkey', async () => {
    const { authenticator } = await signUp();
    authenticator.verifiesPerson = false;
    for (const _ of [1, 2, 3, 4, 5]) expect(await signIn(authenticator)).toMatchObject({ status: 401 });
    Object.assign(authenticator, { verifiesPerson: true, counter: 9 });
    expect(await signIn(authenticator)).toMatchObject({ status: 429 });
  });
});

describe('without script', () => {
  it('a recovery code stands for the passkey, on the page and for programs', async () => {
    const { email, codes } = await signUp();
    const browser = accounts.newBrowser();
    expect((await givePassword(email, browser)).text).toContain('recovery codes');
    expect(await browser.submit('/auth/second-factor', { code: codes[0]! })).toMatchObject({ path: '/auth/account' });
    const logIn = (code: string) =>
      fetch(`${platform.service.url}/api/v1/login`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${email}:${PASSWORD}`)}`, 'x-second-factor': code },
      });
    expect((await logIn(codes[0]!)).status).toBe(401);
    expect((await logIn(codes[1]!)).status).toBe(200);
  });

  it('a page runs none but the one of ours, on the pages that ask for a passkey', async () => {
    const { browser, account } = await signUp();
    const page = await accounts.newBrowser().open('/auth/passkey');
    const [, nonce] = /<script src="\/auth\/passkeys\.js" nonce="([^"]+)" defer>/.exec(page.text)!;
    expect(page.headers['content-security-policy']).toContain(`script-src 'nonce-${nonce!.replaceAll('&#61;', '=')}'`);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    for (const other of [
      account,
      await accounts.newBrowser().open('/login'),
      await browser.open('/auth/account/passkeys'),
    ]) {
      expect(other.text).not.toContain('<script');
      expect(other.headers['content-security-policy']).not.toContain('script-src');
    }
    const script = await fetch(`${platform.service.url}/auth/passkeys.js`);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  });
});

it.each([
  ['https://runyard.example.com', true],
  ['http://localhost:2024', true],
  ['http://127.0.0.1:2024', true],
  ['http://runyard.example.com', false],
  ['https://192.0.2.1', false],
  ['https://[2001:db8::1]:8443', false],
])('passkeys at %s: %s', (publicUrl, isAvailable) => {
  expect(new RelyingParty({ publicUrl }).isAvailable).toBe(isAvailable);
});
