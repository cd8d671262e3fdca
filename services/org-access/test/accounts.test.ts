import type { BootstrapResponse } from '@runyard/contracts';
import { Secret, TOTP } from 'otpauth';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishAccessChange } from '../src/access/credentials/access-change.ts';
import { disableIdentity } from '../src/access/credentials/disable-identity.ts';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { PASSWORD, type SignedUp, TestAccounts } from './support/accounts.ts';
import { whileLocked } from './support/locked-rows.ts';
import { PageClient } from './support/page-client.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

const OTHER_PASSWORD = 'a lighthouse keeps no diary';

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

const newBrowser = () => accounts.newBrowser();
const invite = (email: string, organizationId: string) => accounts.invite(email, organizationId);
const signUp = (email?: string) => accounts.signUp(email);
const signIn = (browser: PageClient, email: string, password = PASSWORD) =>
  browser.submit('/auth/password', { email, password });

const actionsOf = (organizationId: string) => accounts.actionsOf(organizationId);
const personIdOf = async (email: string) =>
  (await people.database.prisma.person.findUniqueOrThrow({ where: { email } })).id;

/** Begins the set-up of an authenticator app. @returns how to confirm it, and its code so many steps from now */
async function beginAuthenticator({ browser, account }: Pick<SignedUp, 'browser' | 'account'>) {
  const form = { current_password: PASSWORD };
  const setup = await browser.submit('/auth/account/authenticator', form, account);
  const secret = Secret.fromBase32(/secret=([A-Z2-7]+)/.exec(setup.text)![1]!);
  const codeAt = (offset: number) => new TOTP({ secret }).generate({ timestamp: Date.now() + offset * 30_000 });
  const confirm = (code: string) => browser.submit('/auth/account/authenticator/confirm', { code }, setup);
  return { setup, codeAt, confirm };
}

describe('the first administrator', () => {
  it('comes by a link that works once, also for two at once, and is an Organization Admin by the grant bootstrap', async () => {
    const path = platform.bootstrap.administrator_setup_path!;
    const form = { full_name: 'Ada', email: ' Ada@Example.com', password: PASSWORD };
    const weak = newBrowser();
    const refused = await weak.submit('/auth/setup', { ...form, password: 'password1234' }, await weak.open(path));
    expect(refused).toMatchObject({ status: 422, text: expect.stringContaining('guessed first') });

    const browsers = [newBrowser(), newBrowser()];
    const pages = await Promise.all(
      browsers.map(async (browser, index) =>
        browser.submit('/auth/setup', { ...form, email: `${index}${form.email.trim()}` }, await browser.open(path)),
      ),
    );
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 400]);
    const organizationId = platform.bootstrap.organization_id;
    const administrators = await people.database.prisma.identity.findMany({
      where: { organizationId, kind: 'person' },
      include: { grants: true },
    });
    expect(administrators).toMatchObject([
      { organizationRoleId: PLATFORM_ROLES.organizationAdmin, grants: [{ source: 'bootstrap' }] },
    ]);
    expect(await newBrowser().open(path)).toMatchObject({ status: 400 });
    const again = await platform.internal<BootstrapResponse>('/internal/bootstrap', {});
    expect(again.body.administrator_setup_path).toBeNull();
    expect((await actionsOf(organizationId)).slice(-2)).toEqual([
      ['member.added', null],
      ['sign_in.allowed', 4],
    ]);
  });
});

describe('an invite', () => {
  it('shows who invites where, makes the account of a new person, and works once', async () => {
    const { email, organizationId, browser } = await signUp();
    expect(await actionsOf(organizationId)).toEqual([
      ['member.added', null],
      ['invite.claimed', null],
      ['sign_in.allowed', 4],
    ]);
    const { body } = await platform.verify(browser.sessionToken!);
    expect(body.claims).toMatchObject({ organization_id: organizationId, kind: 'session' });
    expect((await signIn(newBrowser(), email)).path).toBe('/auth/account');
  });

  it('is taken up by the person it is for, who has an account, and by nobody else', async () => {
    const { email, browser } = await signUp();
    const other = await signUp();
    const { organizationId } = await people.addOrganization('Second');
    const link = await invite(email, organizationId);
    const stranger = await newBrowser().open(link);
    expect(stranger.text).toContain('Sign in to accept');
    expect(stranger.text).not.toContain('type="password"');
    const token = link.split('=')[1]!;
    const csrf = /name="csrf" value="([^"]+)"/.exec(other.account.text)![1]!;
    const asOther = await other.browser.submit('/login/invite', { token, answer: 'accept', csrf });
    expect(asOther).toMatchObject({ status: 403 });
    const anonymous = { token, answer: 'accept', full_name: 'Eve', password: PASSWORD };
    expect(await newBrowser().submit('/login/invite', anonymous)).toMatchObject({ status: 409 });
    const accepted = await browser.submit('/login/invite', {}, await browser.open(link));
    expect(accepted.text).toContain('You act in the organization Second');
    expect(await browser.open(link)).toMatchObject({ status: 400 });
  });

  it('is declined by its link, and ends', async () => {
    const { organizationId } = await people.addOrganization();
    const link = await invite('declining@example.com', organizationId);
    const answer = { token: link.split('=')[1]!, answer: 'decline' };
    expect(await newBrowser().submit('/login/invite', answer)).toMatchObject({ status: 200 });
    expect(await newBrowser().submit('/login/invite', answer)).toMatchObject({ status: 400 });
    expect(await actionsOf(organizationId)).toEqual([['invite.declined', null]]);
  });
});

describe('sign-in', () => {
  it('says the same, as late, to a wrong password and to an unknown address, and records the step that decided', async () => {
    const { email, organizationId } = await signUp();
    const timed = async (address: string) => {
      const begun = performance.now();
      const page = await signIn(newBrowser(), address, 'not the password');
      return { status: page.status, text: page.text.replaceAll(address, ''), ms: performance.now() - begun };
    };
    const [known, unknown] = [await timed(email), await timed('nobody@example.com')];
    expect(known.status).toBe(401);
    expect({ ...unknown, ms: 0 }).toEqual({ ...known, ms: 0 });
    expect(Math.min(known.ms, unknown.ms)).toBeGreaterThanOrEqual(249);
    expect((await actionsOf(organizationId)).at(-1)).toEqual(['sign_in.denied', 1]);
  });

  it('pauses after a few wrong passwords for an account, even many at once, and briefly, whoever guesses', async () => {
    const { email } = await signUp();
    const guesses = await Promise.all(Array.from({ length: 12 }, () => signIn(newBrowser(), email, 'a wrong guess')));
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(5);
    const paused = await signIn(newBrowser(), email);
    expect(paused.status).toBe(429);
    expect(Number(paused.headers['retry-after'])).toBeLessThanOrEqual(30);
    expect(paused.text).toContain('Too many attempts');
  });

  it('pauses for an address that guesses at many accounts, and for no other', async () => {
    const browser = newBrowser();
    const guess = (index: number) => signIn(browser, `victim-${index}@example.com`, 'a wrong guess');
    const statuses = await Promise.all(Array.from({ length: 24 }, (_, index) => guess(index)));
    expect(statuses.some(({ status }) => status === 429)).toBe(true);
    expect((await signIn(newBrowser(), 'victim-30@example.com')).status).toBe(401);
  });

  it('does not pause for an address from which many people sign in rightly', async () => {
    const { email } = await signUp();
    const browser = newBrowser();
    for (let count = 0; count < 21; count++) {
      browser.cookies.clear();
      expect((await signIn(browser, email)).path).toBe('/auth/account');
    }
  });

  it('is denied to who is disabled everywhere, by step 2, after the password', async () => {
    const { email, organizationId } = await signUp();
    await people.database.prisma.identity.updateMany({ where: { organizationId }, data: { disabledAt: new Date() } });
    expect((await signIn(newBrowser(), email, 'not the password')).status).toBe(401);
    expect(await signIn(newBrowser(), email)).toMatchObject({ status: 403, text: expect.stringContaining('disabled') });
    expect((await actionsOf(organizationId)).at(-1)).toEqual(['sign_in.denied', 2]);
  });

  it.each<[string, (person: SignedUp) => Promise<() => Promise<unknown>>]>([
    [
      'a new password',
      async ({ browser, account }) => {
        const form = { current_password: PASSWORD, password: OTHER_PASSWORD };
        return () => browser.submit('/auth/account/password', form, account);
      },
    ],
    [
      'a new second factor',
      async (person) => {
        const { confirm, codeAt } = await beginAuthenticator(person);
        return () => confirm(codeAt(0));
      },
    ],
    [
      'the end of the last membership',
      async ({ organizationId }) => {
        const { id } = await people.database.prisma.identity.findFirstOrThrow({ where: { organizationId } });
        return () =>
          people.database.transact(async (transaction) => {
            await disableIdentity(transaction, organizationId, id);
            await publishAccessChange(transaction, organizationId, [id], 'disabled');
          });
      },
    ],
  ])('leaves no session that outlives %s at the same time', async (_, prepare) => {
    const person = await signUp();
    const change = await prepare(person);
    const next = newBrowser();
    const login = { table: 'login', column: 'person_id', value: await personIdOf(person.email) };
    const sent = await whileLocked(people, login, async ({ waiting }) => {
      // The password is checked, and the session is not open yet.
      const signedIn = signIn(next, person.email);
      await waiting(1);
      const changed = change();
      await Promise.race([changed, waiting(2)]);
      return { signedIn, changed };
    });
    await Promise.all([sent.signedIn, sent.changed]);
    expect((await next.open('/auth/account')).path).toContain('/login');
  });

  it('gives programs an access token for basic authentication', async () => {
    const { email, organizationId } = await signUp();
    const logIn = (password: string) =>
      fetch(`${platform.service.url}/api/v1/login`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${email}:${password}`)}` },
      });
    expect((await logIn('not the password')).status).toBe(401);
    const { access_token: token } = (await (await logIn(PASSWORD)).json()) as { access_token: string };
    expect((await platform.verify(token)).body.claims).toMatchObject({ organization_id: organizationId });
  });

  it('asks the identity provider of the domain first, and a password only of who wants that', async () => {
    const { organizationId } = await people.addOrganization('Babbage & Co');
    const provider = { displayName: 'IdP', protocol: 'oidc', configuration: {}, defaultWorkspaceIds: [] };
    const { id } = await people.database.prisma.ssoProvider.create({
      data: {
        ...provider,
        id: uuidv7(),
        organizationId,
        defaultWorkspaceRoleId: PLATFORM_ROLES.workspaceUser,
        domains: { create: { domain: 'babbage.example' } },
      },
    });
    const browser = newBrowser();
    const page = await browser.submit('/login', { email: 'ada@babbage.example', return_to: '/x' });
    expect(page.text).toContain(`<a href="/auth/v1/sso/start/${id}?return_to=%2Fx">`);
    expect(page.text).toContain('Babbage &#38; Co');
    expect((await browser.submit('/login', {}, page)).text).toContain('type="password"');
    expect((await browser.open('/login/babbage')).path).toBe('/auth/v1/sso/login/babbage');
  });

  it('leads on to a path of this host and to no other', async () => {
    const { email } = await signUp();
    const fields = { email, password: PASSWORD };
    const there = await newBrowser().submit('/auth/password', { ...fields, return_to: '/auth/account/authenticator' });
    expect(there.path).toBe('/auth/account');
    const elsewhere = await newBrowser().submit('/auth/password', { ...fields, return_to: '//evil.example' });
    expect(elsewhere.path).toBe('/auth/account');
  });

  it('counts whoever reaches the service past the gateway by its own address, not by one that it names', async () => {
    const named = (index: number) => ({ 'x-forwarded-for': `203.0.113.${index}`, 'x-runyard-address-proof': 'none' });
    const guess = (index: number) =>
      fetch(`${platform.service.url}/api/v1/login`, {
        method: 'POST',
        headers: { ...named(index), authorization: `Basic ${btoa(`stranger-${index}@example.com:a wrong guess`)}` },
      });
    const answers = await Promise.all(Array.from({ length: 24 }, (_, index) => guess(index)));
    expect(answers.some(({ status }) => status === 429)).toBe(true);
    expect((await signIn(new PageClient(platform.service.url, '203.0.113.1'), 'victim-31@example.com')).status).toBe(
      401,
    );
  });
});

describe('a person', () => {
  it('changes the password, which ends the other sessions and not this one', async () => {
    const { email, browser, account } = await signUp();
    const other = newBrowser();
    await signIn(other, email);
    const form = { current_password: PASSWORD, password: OTHER_PASSWORD };
    const wrong = await browser.submit('/auth/account/password', { ...form, current_password: 'x' }, account);
    expect(wrong.status).toBe(401);
    expect((await browser.submit('/auth/account/password', form, account)).text).toContain('password is changed');
    expect((await browser.open('/auth/account')).path).toBe('/auth/account');
    expect((await other.open('/auth/account')).path).toMatch(/^\/login\?return_to=/);
    expect((await signIn(newBrowser(), email)).status).toBe(401);
  });

  it('sets up an authenticator app: sign-in needs a code, each works once, and a recovery code works instead', async () => {
    const { email, organizationId, browser, account } = await signUp();
    for (const current_password of ['', 'x']) {
      const refused = await browser.submit('/auth/account/authenticator', { current_password }, account);
      expect(refused).toMatchObject({ status: 401, text: expect.stringContaining('password is wrong') });
    }
    const { codeAt, confirm } = await beginAuthenticator({ browser, account });
    // Whoever has another session of the person learns nothing of the key, and ends no set-up.
    const thief = newBrowser();
    const shown = await signIn(thief, email);
    expect((await thief.open('/auth/account/authenticator')).path).toBe('/auth/account');
    const csrf = /name="csrf" value="([^"]+)"/.exec(shown.text)![1]!;
    const stolen = { code: codeAt(0), csrf };
    expect((await thief.submit('/auth/account/authenticator/confirm', stolen)).status).toBe(401);
    expect((await confirm('000000')).status).toBe(401);
    const codes = [...(await confirm(codeAt(0))).text.matchAll(/<code>([a-z0-9-]{19})<\/code>/g)].map(
      ([, code]) => code!,
    );
    expect(codes).toHaveLength(10);

    const next = newBrowser();
    expect((await signIn(next, email)).path).toContain('/auth/second-factor');
    expect(next.sessionToken).toBeUndefined();
    expect((await next.open('/auth/account')).path).toContain('/login');
    // It confirmed the set-up.
    expect((await next.submit('/auth/second-factor', { code: codeAt(0) })).status).toBe(401);
    expect((await next.submit('/auth/second-factor', { code: codeAt(1) })).path).toBe('/auth/account');

    const lost = newBrowser();
    for (const [code, path] of [
      [codes[0]!.toUpperCase(), '/auth/account'],
      [codes[0]!, '/auth/second-factor'],
    ] as const) {
      lost.cookies.clear();
      await signIn(lost, email);
      expect((await lost.submit('/auth/second-factor', { code })).path).toBe(path);
    }
    expect(await actionsOf(organizationId)).toEqual(
      expect.arrayContaining([
        ['second_factor.added', null],
        ['sign_in.continued', 3],
        ['sign_in.denied', 3],
        ['sign_in.allowed', 4],
      ]),
    );
    const remove = await browser.open('/auth/account');
    const removed = await browser.submit('/auth/account/authenticator/remove', { current_password: PASSWORD }, remove);
    expect(removed.text).toContain('is removed');
    expect((await next.open('/auth/account')).path).toContain('/login');
    expect((await signIn(newBrowser(), email)).path).toBe('/auth/account');
  });

  it('ends another session, and signs out', async () => {
    const { email, browser } = await signUp();
    const other = newBrowser();
    await signIn(other, email);
    const listed = await browser.open('/auth/account');
    expect(listed.text.match(/End this session/g)).toHaveLength(1);
    await browser.submit('/auth/account/sessions', {}, listed);
    expect((await other.open('/auth/account')).path).toContain('/login');
    const token = browser.sessionToken!;
    expect((await browser.submit('/auth/sign-out', {}, listed)).path).toBe('/login');
    expect(browser.sessionToken).toBeUndefined();
    expect((await platform.verify(token)).status).toBe(401);
  });

  it('chooses one of several organizations, and no other', async () => {
    const { email, browser } = await signUp();
    const { organizationId } = await people.addOrganization('Second');
    await browser.submit('/login/invite', {}, await browser.open(await invite(email, organizationId)));
    const again = newBrowser();
    const choice = await signIn(again, email);
    expect(choice.text).toContain('Choose an organization');
    const foreign = (await people.addOrganization()).organizationId;
    expect((await again.submit('/auth/organizations', { organization_id: foreign }, choice)).status).toBe(400);
    const chosen = await again.submit('/auth/organizations', { organization_id: organizationId }, choice);
    expect(chosen.text).toContain('You act in the organization Second');
    expect((await platform.verify(again.sessionToken!)).body.claims.organization_id).toBe(organizationId);
  });

  it('is the only one who changes the account: forms need the token of the session', async () => {
    const { browser } = await signUp();
    const form = { current_password: PASSWORD, password: OTHER_PASSWORD };
    for (const fields of [form, { ...form, csrf: 'x' }])
      expect((await browser.submit('/auth/account/password', fields)).status).toBe(403);
  });
});

it('no password, token or code of an account is in the log, and none in the database but as a hash', async () => {
  const { browser } = await signUp();
  const seen = platform.output() + (await platform.dump());
  for (const secret of [PASSWORD, OTHER_PASSWORD, browser.sessionToken!, platform.bootstrap.administrator_setup_path!])
    expect(seen).not.toContain(secret);
});
