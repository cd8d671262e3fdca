import { createHash, randomBytes } from 'node:crypto';
import type { ConsoleAccessToken, ConsoleSession, ConsoleSignOut, SessionInfo } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { PASSWORD, TestAccounts } from './support/accounts.ts';
import { type FetchedPage, PageClient } from './support/page-client.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

const CONSOLE = 'https://console.example.com';
const STATE = 'a-state_of-the-browser';

let platform: TestOrgAccess;
let people: TestPeople;
let accounts: TestAccounts;
beforeAll(async () => {
  platform = await TestOrgAccess.start({ environment: { CONSOLE_URL: `${CONSOLE}/` } });
  people = await TestPeople.open(platform);
  accounts = new TestAccounts(platform, people);
});
afterAll(async () => {
  await people?.close();
  await platform?.close();
});

function newChallenge() {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}
const wayTo = (challenge: string, state = STATE) => `/auth/console?code_challenge=${challenge}&state=${state}`;

/** Signs a member in, with a browser at the platform's host. */
async function signIn() {
  const { organizationId, workspaceId } = await people.addOrganization();
  const personId = await people.addPerson();
  await people.addMember(personId, organizationId, [{ workspaceId, roleId: PLATFORM_ROLES.workspaceUser }]);
  const { id, token } = await people.signIn(personId);
  const browser = new PageClient(platform.service.url);
  browser.cookies.set('runyard_session', token);
  return { organizationId, personId, sessionId: id, token, browser };
}

const codeIn = ({ headers }: FetchedPage) => new URL(headers.location!).searchParams.get('code')!;
const exchange = (code: string, verifier: string) =>
  platform.internal<ConsoleSession & { detail: string }>('/internal/console/sessions', {
    code,
    code_verifier: verifier,
  });
const accessToken = (token: string) =>
  platform.internal<ConsoleAccessToken & { detail: string }>('/internal/console/access-tokens', { token });
const end = (token: string) => platform.internal<ConsoleSignOut>('/internal/console/sessions/end', { token });

/** Brings a browser to the console. */
async function openConsole(browser: PageClient) {
  const { verifier, challenge } = newChallenge();
  const code = codeIn(await browser.open(wayTo(challenge)));
  const { status, body } = await exchange(code, verifier);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { code, verifier, ...body };
}

describe('the way to the console', () => {
  it('leads a signed-in person to its callback with a code and the state, and asks nothing', async () => {
    const { browser } = await signIn();
    const page = await browser.open(wayTo(newChallenge().challenge));
    expect(page.status).toBe(303);
    const target = new URL(page.headers.location!);
    expect([target.origin, target.pathname, target.searchParams.get('state')]).toEqual([
      CONSOLE,
      '/auth/callback',
      STATE,
    ]);
    expect([...target.searchParams.keys()]).toEqual(['code', 'state']);
    expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  });

  it('goes by way of the sign-in for everybody else, whose forms may end at the console', async () => {
    const { email } = await accounts.signUp();
    const browser = accounts.newBrowser();
    const { verifier, challenge } = newChallenge();
    const asked = await browser.open(wayTo(challenge));
    expect(asked.path).toBe(`/login?return_to=${encodeURIComponent(wayTo(challenge))}`);
    expect(asked.headers['content-security-policy']).toContain(`form-action 'self' ${CONSOLE};`);
    const returnTo = { return_to: wayTo(challenge) };
    const there = await browser.submit('/auth/password', { email, password: PASSWORD, ...returnTo });
    expect((await exchange(codeIn(there), verifier)).status).toBe(200);
  });

  it.each([
    ['without a challenge', '/auth/console?state=a'],
    ['with a plain challenge', '/auth/console?code_challenge=short&state=a'],
    ['without a state', `/auth/console?code_challenge=${'a'.repeat(43)}`],
    ['with a state of other characters', wayTo('a'.repeat(43), 'a%26code=b')],
    ['with a state that is too long', wayTo('a'.repeat(43), 'a'.repeat(129))],
  ])('is refused on a page %s, and leads nowhere', async (_, path) => {
    const { browser } = await signIn();
    expect(await browser.open(path)).toMatchObject({ status: 400, headers: { 'x-frame-options': 'DENY' } });
  });

  it('takes no address from the request', async () => {
    const { browser } = await signIn();
    const more = '&redirect_uri=https://evil.example/&return_to=https://evil.example/&console_url=https://evil.example';
    const { headers } = await browser.open(wayTo(newChallenge().challenge) + more);
    expect(headers.location).toMatch(/^https:\/\/console\.example\.com\/auth\/callback\?code=[\w-]+&state=[\w-]+$/);
  });

  it('is not for frames and scripts', async () => {
    const { token } = await signIn();
    for (const fetched of [{ 'sec-fetch-dest': 'iframe' }, { 'sec-fetch-mode': 'cors' }] as Record<string, string>[]) {
      const headers = { cookie: `runyard_session=${token}`, 'x-forwarded-host': '127.0.0.1', ...fetched };
      const url = platform.service.url + wayTo(newChallenge().challenge);
      expect((await fetch(url, { headers, redirect: 'manual' })).status).toBe(403);
    }
  });
});

describe('a code for the console', () => {
  it('opens a token of the session, once, for who knows the verifier', async () => {
    const { browser, sessionId, token } = await signIn();
    const opened = await openConsole(browser);
    expect(opened.token).toMatch(/^rys_[\w-]{43}$/);
    expect(opened.token).not.toBe(token);
    const session = await people.database.prisma.session.findUniqueOrThrow({ where: { id: sessionId } });
    expect(opened.expires_at).toBe(session.expiresAt.toISOString());
    expect(await platform.dump()).not.toContain(opened.token);
    expect(await platform.dump()).not.toContain(opened.code);
    expect(platform.output()).not.toContain(opened.code);
  });

  it('that comes back ends the token that it opened, and no later one, and not the session', async () => {
    const { browser, token, organizationId } = await signIn();
    const first = await openConsole(browser);
    expect((await exchange(first.code, first.verifier)).status).toBe(400);
    expect((await accessToken(first.token)).status).toBe(401);
    expect((await platform.verify(token)).status).toBe(200);
    const second = await openConsole(browser);
    const third = await openConsole(browser);
    expect((await accessToken(second.token)).status).toBe(401);
    expect((await exchange(second.code, second.verifier)).status).toBe(400);
    expect((await accessToken(third.token)).status).toBe(200);
    expect((await accounts.actionsOf(organizationId)).map(([action]) => action)).toEqual([
      ...['session.console_opened', 'session.console_ended', 'session.console_opened', 'session.console_opened'],
    ]);
  });

  it('opens one token at most when it comes twice at once', async () => {
    const { browser } = await signIn();
    const { verifier, challenge } = newChallenge();
    const code = codeIn(await browser.open(wayTo(challenge)));
    const answers = await Promise.all(Array.from({ length: 6 }, () => exchange(code, verifier)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(5);
    const { token } = answers.find(({ status }) => status === 200)!.body;
    expect((await accessToken(token)).status).toBe(401);
  });

  it('is used up by a wrong verifier', async () => {
    const { browser } = await signIn();
    const { verifier, challenge } = newChallenge();
    const code = codeIn(await browser.open(wayTo(challenge)));
    const wrong = await exchange(code, newChallenge().verifier);
    expect(wrong).toMatchObject({ status: 400, body: { detail: expect.stringContaining('begin again') } });
    expect((await exchange(code, verifier)).status).toBe(400);
  });

  it('is of no use when it is unknown, expired, of another kind, or of a session that has ended', async () => {
    const { browser, sessionId } = await signIn();
    const { verifier, challenge } = newChallenge();
    const { prisma } = people.database;
    expect((await exchange('unknown', verifier)).status).toBe(400);
    const link = await platform.internal<{ path: string }>('/internal/sign-in-links', {});
    expect((await exchange(link.body.path.split('=')[1]!, verifier)).status).toBe(400);

    const expired = codeIn(await browser.open(wayTo(challenge)));
    const tokenSha256 = new Uint8Array(createHash('sha256').update(expired).digest());
    const { expiresAt } = await prisma.oneTimeToken.findUniqueOrThrow({ where: { tokenSha256 } });
    expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(60_000);
    await prisma.oneTimeToken.update({ where: { tokenSha256 }, data: { expiresAt: new Date() } });
    expect((await exchange(expired, verifier)).status).toBe(400);

    const ended = codeIn(await browser.open(wayTo(challenge)));
    await prisma.session.update({ where: { id: sessionId }, data: { endedAt: new Date() } });
    expect((await exchange(ended, verifier)).status).toBe(400);
  });

  it('is refused for a session that became a program’s', async () => {
    const { browser, sessionId } = await signIn();
    const { verifier, challenge } = newChallenge();
    const code = codeIn(await browser.open(wayTo(challenge)));
    await people.database.prisma.session.update({ where: { id: sessionId }, data: { clientId: 'langsmith-cli' } });
    expect(await browser.open(wayTo(challenge))).toMatchObject({ status: 400 });
    expect((await exchange(code, verifier)).status).toBe(400);
  });
});

describe('a console token', () => {
  it('makes access tokens of its session, which counts as a use of it', async () => {
    const { browser, sessionId, personId } = await signIn();
    const { token } = await openConsole(browser);
    // The idle time is longer than this, and the token would end with it.
    const lastSeenAt = new Date(Date.now() - 28_000_000);
    await people.database.prisma.session.update({ where: { id: sessionId }, data: { lastSeenAt } });
    const { status, body } = await accessToken(token);
    expect([status, body.expires_in]).toEqual([200, 900]);
    const { claims } = (await platform.verify(body.access_token)).body;
    expect(claims).toMatchObject({ session_id: sessionId, person_id: personId, kind: 'session' });
    const sessions = await platform.callAs<SessionInfo[]>({ token: body.access_token }, 'GET', '/api/v1/sessions');
    expect(Date.parse(sessions.body[0]!.last_seen_at)).toBeGreaterThan(Date.now() - 60_000);
  });

  it('counts for nothing as the token of the ordinary cookie, nor that as a console token', async () => {
    const { browser, token } = await signIn();
    const opened = await openConsole(browser);
    expect((await platform.verify(opened.token)).status).toBe(401);
    expect((await accessToken(token)).status).toBe(401);
    expect(await end(token)).toMatchObject({ status: 200, body: { logout_url: null } });
    expect((await platform.verify(token)).status).toBe(200);
    const other = new PageClient(platform.service.url);
    other.cookies.set('runyard_session', opened.token);
    expect((await other.open('/auth/account')).path).toMatch(/^\/login/);
  });

  it('outlives a new token of the cookie, and ends with the session', async () => {
    const { browser, token, sessionId } = await signIn();
    const opened = await openConsole(browser);
    const verified = await platform.verify(token);
    const refreshed = await fetch(`${platform.service.url}/api/v1/sessions/current/refresh`, {
      method: 'POST',
      headers: {
        cookie: `__Host-runyard_session=${token}`,
        'x-forwarded-proto': 'https',
        'x-runyard-principal': verified.body.token,
      },
    });
    expect(refreshed.status).toBe(200);
    const made = (await accessToken(opened.token)).body.access_token;
    expect((await platform.callAs({ token: made }, 'DELETE', `/api/v1/sessions/${sessionId}`)).status).toBe(204);
    expect(await accessToken(opened.token)).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining('ended') },
    });
  });

  it('ends the session at both hosts as sign-out does, and again does no harm', async () => {
    const { browser, token, organizationId } = await signIn();
    const opened = await openConsole(browser);
    const access = (await accessToken(opened.token)).body.access_token;
    for (let time = 0; time < 2; time++)
      expect(await end(opened.token)).toEqual({ status: 200, body: { logout_url: null } });
    expect(await end('rys_unknown')).toEqual({ status: 200, body: { logout_url: null } });
    const answers = await Promise.all([platform.verify(token), platform.verify(access), accessToken(opened.token)]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect((await accounts.actionsOf(organizationId)).map(([action]) => action)).toEqual([
      'session.console_opened',
      'session.ended',
    ]);
  });

  it('is asked for by the platform’s own services alone', async () => {
    for (const path of ['console/sessions', 'console/access-tokens', 'console/sessions/end', 'sign-in-links']) {
      const answer = await platform.internal(
        `/internal/${path}`,
        { token: 'a', code: 'a' },
        { token: 'not the token' },
      );
      expect([path, answer.status]).toEqual([path, 401]);
    }
  });
});

describe('an installation without a console', () => {
  it('has no way there, and its forms lead nowhere else', async () => {
    const without = await TestOrgAccess.start();
    try {
      const browser = new PageClient(without.service.url);
      expect(await browser.open(wayTo('a'.repeat(43)))).toMatchObject({ status: 404 });
      const { headers } = await browser.open('/login');
      expect(headers['content-security-policy']).toContain("form-action 'self';");
    } finally {
      await without.close();
    }
  });

  it('does not start with an address that has a path', async () => {
    await expect(
      TestOrgAccess.start({ environment: { CONSOLE_URL: 'https://console.example.com/path' } }),
    ).rejects.toThrow('CONSOLE_URL');
  });
});
