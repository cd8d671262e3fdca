import {
  DEVICE_GRANT,
  type DeviceCodeAnswer,
  type IssuedApiKey,
  type OAuthTokenAnswer,
  type SessionInfo,
} from '@runyard/contracts';
import { silentLogger } from '@runyard/service-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { SessionSweeper } from '../src/sign-in/sessions/session-sweeper.ts';
import { whileLocked } from './support/locked-rows.ts';
import { PageClient } from './support/page-client.ts';
import { TestPeople } from './support/people.ts';
import { TestOrgAccess } from './support/platform.ts';

const client_id = 'langsmith-cli';
const DEVICE_PAGE = '/auth/device';
const TOKENS = '/api/v1/orgs/current/personal-access-tokens';
const USER = { workspaceId: null, roleId: PLATFORM_ROLES.organizationUser };

type Tokens = OAuthTokenAnswer & { error?: string; error_description?: string };

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

/** Posts a form as the official command line does. */
async function post<Body = Tokens>(path: string, fields: Record<string, string> | [string, string][]) {
  const answer = await fetch(platform.service.url + path, { method: 'POST', body: new URLSearchParams(fields) });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: (text ? JSON.parse(text) : undefined) as Body };
}
const ask = async () => (await post<DeviceCodeAnswer>('/oauth/device/code', { client_id })).body;
const poll = (device_code: string) => post('/oauth/token', { grant_type: DEVICE_GRANT, client_id, device_code });
const refresh = (refresh_token: string) =>
  post('/oauth/token', { grant_type: 'refresh_token', client_id, refresh_token });

/** @returns a browser in which a new member of an organization has signed in */
async function signIn(): Promise<{ browser: PageClient; personId: string; sessionId: string; organizationId: string }> {
  const { organizationId } = await people.addOrganization();
  const personId = await people.addPerson();
  await people.addMember(personId, organizationId, [USER]);
  const { id, token } = await people.signIn(personId);
  const browser = new PageClient(platform.service.url);
  browser.cookies.set('runyard_session', token);
  return { browser, personId, sessionId: id, organizationId };
}

async function answer(browser: PageClient, user_code: string, answer: 'accept' | 'refuse') {
  const entry = await browser.open(`${DEVICE_PAGE}?user_code=${user_code}`);
  const question = await browser.submit(DEVICE_PAGE, { user_code }, entry);
  expect(question.text).toContain('LangSmith CLI');
  return browser.submit(DEVICE_PAGE, { answer }, question);
}

/** @returns the tokens of a program that a new member allowed */
async function allow() {
  const visitor = await signIn();
  const asked = await ask();
  await answer(visitor.browser, asked.user_code, 'accept');
  return { ...visitor, asked, tokens: (await poll(asked.device_code)).body };
}
const errorOf = async (answer: Promise<{ status: number; body: Tokens }>) => {
  const { status, body } = await answer;
  return [status, body.error, typeof body.error_description];
};
const auditOf = (organizationId: string) =>
  platform.query<{ action: string; details: Record<string, unknown> }>(
    'SELECT action, details FROM audit_event WHERE organization_id = $1::uuid ORDER BY sequence',
    [organizationId],
  );

/** Makes a request wait for a session, which is changed when it goes on. */
async function whileSessionLocked<Result>(
  sessionId: string,
  request: () => Promise<Result>,
  change: string,
): Promise<Result> {
  const { sent } = await whileLocked(
    people,
    { table: 'session', value: sessionId },
    async ({ transaction, waiting }) => {
      const sent = request();
      await waiting(1);
      await transaction.$executeRawUnsafe(change, sessionId);
      return { sent };
    },
  );
  return sent;
}

describe('a program that asks a person for the right to act', () => {
  it('waits for the answer, and then acts as the person in a session of its own', async () => {
    const asked = await ask();
    expect(asked).toMatchObject({ expires_in: 600, interval: 5 });
    expect(asked.user_code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    expect(new URL(asked.verification_uri).pathname).toBe(DEVICE_PAGE);
    expect(await errorOf(poll(asked.device_code))).toEqual([400, 'authorization_pending', 'string']);
    expect(await errorOf(poll(asked.device_code))).toEqual([400, 'slow_down', 'string']);

    const { browser, organizationId, sessionId, personId } = await signIn();
    const end = await answer(browser, asked.user_code.toLowerCase().replace('-', ''), 'accept');
    expect(end).toMatchObject({ status: 200, text: expect.stringContaining('may act for you') });
    const { status, headers, body } = await poll(asked.device_code);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 900 });
    const { claims } = (await platform.verify(body.access_token)).body;
    expect(claims).toMatchObject({ kind: 'session', person_id: personId, organization_id: organizationId });
    expect(claims.session_id).not.toBe(sessionId);
    const sessions = await platform.callAs<SessionInfo[]>({ token: body.access_token }, 'GET', '/api/v1/sessions');
    expect(sessions.body.map(({ id }) => id)).toEqual([claims.session_id]);
    expect((await auditOf(organizationId)).map(({ action }) => action)).toEqual(['program.allowed', 'sign_in.allowed']);

    expect(await errorOf(poll(asked.device_code)), 'the code works once').toEqual([400, 'invalid_grant', 'string']);
    expect((await platform.verify(body.refresh_token)).status, 'a refresh token is no credential').toBe(401);
    const dump = await platform.dump();
    for (const secret of [asked.device_code, body.refresh_token, body.access_token]) expect(dump).not.toContain(secret);
  });

  it('sees and ends no session but its own, and has nothing to do with the passkeys of the person', async () => {
    const { browser, sessionId, tokens } = await allow();
    const program = { token: tokens.access_token };
    expect((await platform.callAs(program, 'DELETE', `/api/v1/sessions/${sessionId}`)).status).toBe(404);
    expect((await platform.callAs(program, 'DELETE', '/api/v1/sessions')).body).toEqual({ ended: 0 });
    for (const [method, path, body] of [
      ['GET', '/api/v1/passkeys'],
      ['POST', '/api/v1/passkeys/options', { current_password: 'x' }],
      ['PATCH', `/api/v1/passkeys/${sessionId}`, { name: 'x' }],
      ['DELETE', `/api/v1/passkeys/${sessionId}`, { current_password: 'x' }],
    ] as const)
      expect((await platform.callAs(program, method, path, body)).status, `${method} ${path}`).toBe(403);
    expect((await platform.callAs(program, 'DELETE', '/api/v1/sessions?include_current=true')).body).toEqual({
      ended: 1,
    });
    expect((await platform.verify(tokens.access_token)).status).toBe(401);
    expect((await platform.verify(browser.sessionToken!)).status).toBe(200);
  });

  it('makes personal tokens that end with its session, also one that it makes at that moment', async () => {
    const { browser, tokens } = await allow();
    const program = { token: tokens.access_token };
    const make = (session: { token: string }) => platform.callAs<IssuedApiKey>(session, 'POST', TOKENS, {});
    const [own, ofBrowser] = [(await make(program)).body, (await make({ token: browser.sessionToken! })).body];
    expect(Date.parse(own.expires_at!)).toBeLessThanOrEqual(Date.now() + 7 * 86_400_000);
    const further = (await platform.call<IssuedApiKey>(own.key, 'POST', TOKENS, {})).body;
    const { session_id: sessionId } = (await platform.verify(tokens.access_token)).body.claims;
    const end = `UPDATE session SET ended_at = now() WHERE id = $1::uuid`;
    expect(await whileSessionLocked(sessionId!, () => make(program), end)).toMatchObject({ status: 401 });
    await platform.query('UPDATE session SET ended_at = NULL WHERE id = $1::uuid', [sessionId]);
    expect((await platform.callAs({ token: browser.sessionToken! }, 'DELETE', '/api/v1/sessions')).body).toEqual({
      ended: 1,
    });
    const statuses = await Promise.all([own, further, ofBrowser].map(({ key }) => platform.verify(key)));
    expect(statuses.map(({ status }) => status)).toEqual([401, 401, 200]);
  });

  it('gets nothing when the person signs out everywhere while it asks, and ends with what a sign-out finds', async () => {
    const [asked, later] = [await ask(), await ask()];
    const { browser, personId, sessionId } = await signIn();
    for (const { user_code } of [asked, later]) await answer(browser, user_code, 'accept');
    const end = `UPDATE session SET ended_at = now() WHERE id = $1::uuid`;
    const polled = await whileSessionLocked(sessionId, () => poll(asked.device_code), end);
    expect(await errorOf(Promise.resolve(polled))).toEqual([400, 'access_denied', 'string']);

    await platform.query('UPDATE session SET ended_at = NULL WHERE id = $1::uuid', [sessionId]);
    const open = `INSERT INTO session (id, person_id, token_sha256, client_id, expires_at)
      SELECT gen_random_uuid(), person_id, sha256('program'), 'langsmith-cli', expires_at FROM session WHERE id = $1::uuid`;
    const everywhere = '/api/v1/sessions?include_current=true';
    const token = browser.sessionToken!;
    const ended = await whileSessionLocked(sessionId, () => platform.callAs({ token }, 'DELETE', everywhere), open);
    expect(ended.body).toEqual({ ended: 2 });
    const left = 'SELECT id FROM session WHERE person_id = $1::uuid AND ended_at IS NULL';
    expect(await platform.query(left, [personId])).toEqual([]);
  });

  it('gets nothing when the person refuses, signs out before it asks, or lets the code expire', async () => {
    const [refused, left, late] = [await ask(), await ask(), await ask()];
    const { browser, sessionId } = await signIn();
    await answer(browser, refused.user_code, 'refuse');
    expect(await errorOf(poll(refused.device_code))).toEqual([400, 'access_denied', 'string']);
    await answer(browser, left.user_code, 'accept');
    await platform.query('UPDATE session SET ended_at = now() WHERE id = $1::uuid', [sessionId]);
    expect(await errorOf(poll(left.device_code))).toEqual([400, 'access_denied', 'string']);
    await platform.query(`UPDATE device_authorization SET expires_at = now() WHERE denied_at IS NULL`);
    expect(await errorOf(poll(late.device_code))).toEqual([400, 'expired_token', 'string']);
  });

  it('is let in by nobody but a person who signed in, on our own page, and not by guessing', async () => {
    const { user_code } = await ask();
    const stranger = new PageClient(platform.service.url);
    expect((await stranger.open(`${DEVICE_PAGE}?user_code=${user_code}`)).path).toMatch(/^\/login\?return_to=/);
    const { browser } = await signIn();
    expect((await browser.submit(DEVICE_PAGE, { user_code, answer: 'accept', csrf: 'forged' })).status).toBe(403);
    const entry = await browser.open(DEVICE_PAGE);
    const guess = () => browser.submit(DEVICE_PAGE, { user_code: 'BBBB-BBBB' }, entry);
    const statuses = [];
    for (let count = 0; count < 11; count += 1) statuses.push((await guess()).status);
    expect(statuses).toEqual([...Array(10).fill(400), 429]);
  });

  it('is not guessed either by a person who enters codes of their own in between', async () => {
    const own = await ask();
    const { browser } = await signIn();
    const entry = await browser.open(DEVICE_PAGE);
    const enter = async (user_code: string) => (await browser.submit(DEVICE_PAGE, { user_code }, entry)).status;
    const statuses = [];
    for (let count = 0; count < 11; count += 1) statuses.push(await enter(own.user_code), await enter('BBBB-BBBB'));
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => [200, 400]).flat(), 429, 429]);
  });
});

describe('a refresh token', () => {
  it('gives the next tokens once, and ends the session when a used one comes back', async () => {
    const { tokens, organizationId } = await allow();
    const next = await refresh(tokens.refresh_token);
    expect(next.body.refresh_token).not.toBe(tokens.refresh_token);
    const after = await refresh(next.body.refresh_token);
    expect((await platform.verify(after.body.access_token)).status).toBe(200);

    expect(await errorOf(refresh(tokens.refresh_token))).toEqual([400, 'invalid_grant', 'string']);
    expect(await errorOf(refresh(after.body.refresh_token))).toEqual([400, 'invalid_grant', 'string']);
    expect((await platform.verify(after.body.access_token)).status).toBe(401);
    expect((await auditOf(organizationId)).at(-1)).toMatchObject({
      action: 'session.ended',
      details: { reason: 'refresh_token_reused' },
    });
  });

  it('gives one and the same successor to all who present it at once, for half a minute', async () => {
    const { tokens } = await allow();
    const answers = await Promise.all(Array.from({ length: 6 }, () => refresh(tokens.refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    const successors = new Set(answers.map(({ body }) => body.refresh_token));
    expect(successors.size).toBe(1);
    await platform.query(`UPDATE refresh_token SET used_at = now() - interval '31 s' WHERE used_at IS NOT NULL`);
    expect(await errorOf(refresh(tokens.refresh_token))).toEqual([400, 'invalid_grant', 'string']);
    expect(await errorOf(refresh([...successors][0]!))).toEqual([400, 'invalid_grant', 'string']);
  });

  it('ends with its session: revoked, ended on the list of sessions, or at the limit of programs', async () => {
    const [revoked, byAccess, listed, old] = [await allow(), await allow(), await allow(), await allow()];
    expect((await post('/oauth/revoke', { client_id, token: revoked.tokens.refresh_token })).status).toBe(200);
    expect((await post('/oauth/revoke', { client_id, token: byAccess.tokens.access_token })).status).toBe(200);
    expect((await post('/oauth/revoke', { client_id, token: 'nothing' })).status).toBe(200);
    const browserToken = listed.browser.sessionToken!;
    expect((await platform.callAs({ token: browserToken }, 'DELETE', '/api/v1/sessions')).body).toEqual({ ended: 1 });
    await platform.query(`UPDATE session SET created_at = now() - interval '8 days' WHERE person_id = $1::uuid`, [
      old.personId,
    ]);
    for (const { tokens } of [revoked, byAccess, listed, old]) {
      expect(await errorOf(refresh(tokens.refresh_token))).toEqual([400, 'invalid_grant', 'string']);
      expect((await platform.verify(tokens.access_token)).status).toBe(401);
    }
    expect((await platform.verify(browserToken)).status, 'the browser stays signed in').toBe(200);
  });

  it('is refused for a while after many, and the old ones of a session are deleted, all of them once it has ended', async () => {
    const [{ tokens }, ended] = [await allow(), await allow()];
    const { session_id: sessionId } = (await platform.verify(tokens.access_token)).body.claims;
    const add = (number: number, age: string) =>
      platform.query(
        `INSERT INTO refresh_token (token_sha256, session_id, created_at, used_at)
         SELECT sha256(convert_to($1::text || each, 'UTF8')), $2::uuid, now() - $1::text::interval, now() - $1::text::interval
         FROM generate_series(1, $3::int) AS each`,
        [age, sessionId, number],
      );
    const count = async (id: string) => people.database.prisma.refreshToken.count({ where: { sessionId: id } });
    await add(60, '59 min');
    expect(await errorOf(refresh(tokens.refresh_token))).toEqual([429, 'slow_down', 'string']);
    await add(500, '3 days');
    await platform.query(
      `UPDATE refresh_token SET created_at = now() - interval '2 days' WHERE session_id = $1::uuid
      AND created_at > now() - interval '1 day' AND used_at IS NOT NULL`,
      [sessionId],
    );
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
    expect(await count(sessionId!)).toBeLessThanOrEqual(500);

    const { session_id: other } = (await platform.verify(ended.tokens.access_token)).body.claims;
    await post('/oauth/revoke', { client_id, token: ended.tokens.refresh_token });
    await new SessionSweeper({ prisma: people.database.prisma, logger: silentLogger }).sweep();
    expect([await count(other!), (await count(sessionId!)) > 0]).toEqual([0, true]);
  });

  it('keeps a program signed in that was idle for longer than a browser may be', async () => {
    const { tokens, personId } = await allow();
    await platform.query(`UPDATE session SET last_seen_at = now() - interval '2 days' WHERE person_id = $1::uuid`, [
      personId,
    ]);
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
  });

  it('of a sign-in at an identity provider acts in that organization alone, and ends with it', async () => {
    const { organizationId } = await people.addOrganization();
    const personId = await people.addPerson();
    await people.addMember(personId, organizationId, [USER]);
    await people.addMember(personId, (await people.addOrganization()).organizationId, [USER]);
    const providerId = crypto.randomUUID();
    const sso = { organizationId, providerId, sessionId: 'sid', subject: 'ada', encryptedIdToken: null };
    const { token } = await people.signIn(personId, { sso });
    const browser = new PageClient(platform.service.url);
    browser.cookies.set('runyard_session', token);
    const asked = await ask();
    await answer(browser, asked.user_code, 'accept');
    const { body } = await poll(asked.device_code);
    expect((await platform.verify(body.access_token)).body.claims.organization_id).toBe(organizationId);
    const [row] = await platform.query<{ seconds: number }>(
      `SELECT extract(epoch FROM expires_at - created_at)::int AS seconds FROM session
       WHERE sso_provider_id = $1::uuid AND provider_session_id = 'sid' AND client_id = 'langsmith-cli'`,
      [providerId],
    );
    expect(row!.seconds).toBeGreaterThan(86_390);
    expect(row!.seconds).toBeLessThan(86_410);
  });
});

describe('a bad request of OAuth', () => {
  it.each([
    [400, 'invalid_request', {}],
    [400, 'invalid_request', { grant_type: 'refresh_token' }],
    [401, 'invalid_client', { grant_type: 'refresh_token', client_id: 'another', refresh_token: 'a' }],
    [400, 'invalid_request', { grant_type: 'refresh_token', client_id }],
    [400, 'invalid_request', { grant_type: DEVICE_GRANT, client_id }],
    [400, 'invalid_grant', { grant_type: 'refresh_token', client_id, refresh_token: 'a' }],
    [400, 'unsupported_grant_type', { grant_type: 'password', client_id }],
    [
      400,
      'invalid_target',
      { grant_type: 'refresh_token', client_id, refresh_token: 'a', resource: 'https://a.example' },
    ],
    [
      400,
      'invalid_request',
      [
        ['client_id', client_id],
        ['client_id', client_id],
      ] as [string, string][],
    ],
  ])('is answered %s %s in the form of RFC 6749', async (status, error, fields) => {
    expect(await errorOf(post('/oauth/token', fields as Record<string, string>))).toEqual([status, error, 'string']);
  });

  it('leads to no foreign host: the metadata names the public address of the platform', async () => {
    const { body } = await platform.anonymous<Record<string, unknown>>(
      'GET',
      '/.well-known/oauth-authorization-server',
    );
    expect(body).toMatchObject({
      issuer: 'http://localhost:2024',
      token_endpoint: 'http://localhost:2024/oauth/token',
      device_authorization_endpoint: 'http://localhost:2024/oauth/device/code',
      grant_types_supported: ['authorization_code', 'refresh_token', DEVICE_GRANT],
    });
  });
});
