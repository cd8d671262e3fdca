import type { SsoSettings } from '@runyard/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PLATFORM_ROLES } from '../src/access/platform-roles.ts';
import { csrfTokenOf } from '../src/sign-in/sessions/session-cookie.ts';
import { TestBrowser } from './support/browser.ts';
import { TestOidcProvider } from './support/oidc-identity-provider.ts';
import { PageClient } from './support/page-client.ts';
import { TestOrgAccess } from './support/platform.ts';

const SETTINGS = '/api/v1/orgs/current/sso-settings';
const CALLBACK = '/api/v1/oauth/custom-oidc/callback';
const LOGOUT = '/api/v1/oauth/custom-oidc/backchannel-logout';

let platform: TestOrgAccess;
let idp: TestOidcProvider;
let provider: SsoSettings;
let browser: TestBrowser;
beforeAll(async () => {
  idp = await TestOidcProvider.start();
  platform = await TestOrgAccess.start({
    environment: {
      OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
      OAUTH_CLIENT_ID: 'runyard',
      OAUTH_CLIENT_SECRET: 'the secret of the environment',
      OAUTH_ISSUER_URL: idp.issuer,
      OAUTH_IDP_LOGOUT_ENABLED: 'true',
    },
  });
  const { body } = await platform.asAdmin<SsoSettings[]>('GET', SETTINGS);
  [provider] = body as [SsoSettings];
});
afterAll(async () => {
  await platform?.close();
  await idp?.close();
});
beforeEach(() => {
  browser = new TestBrowser(() => platform.service.url);
});

const change = (body: object) => platform.asAdmin<SsoSettings>('PATCH', `${SETTINGS}/${provider.id}`, body);
const person = (name: string) => ({ sub: name, email: `${name}@example.com`, email_verified: true });
const begin = async (returnTo = '/studio?x=1') => {
  const answer = await browser.visit(`/auth/v1/sso/start/${provider.id}?return_to=${encodeURIComponent(returnTo)}`);
  expect(answer.status).toBe(303);
  return answer.location;
};
const signIn = async (claims: Record<string, unknown>, options?: { key: 'foreign' }) =>
  browser.visit(`${CALLBACK}?${idp.authorize(await begin(), claims, options)}`);
const query = <Row extends object>(sql: string, ...values: unknown[]) => platform.query<Row>(sql, values);
const rolesOf = (email: string) =>
  query<{ organization: string; workspace: string | null; role: string | null }>(
    `SELECT organization_role_id::text AS organization, workspace_id::text AS workspace, role_id::text AS role
     FROM identity JOIN person ON person.id = person_id LEFT JOIN member ON identity_id = identity.id
     WHERE email = $1 ORDER BY workspace_id`,
    email,
  );

describe('the provider of the variables', () => {
  it('is in the default organization with the first workspace and Editor, and its connection changes with the variables alone', async () => {
    expect(provider).toMatchObject({
      is_from_environment: true,
      client_id: 'runyard',
      logout_at_provider: true,
      default_workspace_role_id: PLATFORM_ROLES.workspaceEditor,
      default_workspace_ids: [platform.bootstrap.workspace_id],
    });
    expect((await change({ client_id: 'other' })).status).toBe(409);
    expect(await begin()).toMatch(/[?&]scope=openid%20email%20profile(&|$)/);
    expect((await change({ display_name: 'Company' })).status).toBe(200);
    expect((await platform.asAdmin('DELETE', `${SETTINGS}/${provider.id}`)).status).toBe(409);
    await platform.restart();
    const { body } = await platform.asAdmin<SsoSettings[]>('GET', SETTINGS);
    expect(body.map(({ id, display_name }) => [id, display_name])).toEqual([[provider.id, 'Company']]);
  });
});

describe('sign-in by OIDC', () => {
  it('provisions a person, opens a session and goes on to a path of this site', async () => {
    const answer = await signIn(person('ada'));
    expect(answer).toMatchObject({ status: 303, location: '/studio?x=1' });
    expect(browser.isSignedIn).toBe(true);
    expect(await rolesOf('ada@example.com')).toEqual([
      {
        organization: PLATFORM_ROLES.organizationUser,
        workspace: platform.bootstrap.workspace_id,
        role: PLATFORM_ROLES.workspaceEditor,
      },
    ]);
    expect(await platform.dump()).not.toContain(browser.cookies.get('runyard_session'));
  });

  it.each(['https://evil.example.com', '//evil.example.com', '/\\evil.example.com', 'javascript:alert(1)', '/\t/evil'])(
    'never goes on to %s',
    async (returnTo) => {
      const location = idp.authorize(await begin(returnTo), person('ada'));
      expect((await browser.visit(`${CALLBACK}?${location}`)).location).toBe('/');
    },
  );

  it('ends once, and only in the browser that began it', async () => {
    const back = idp.authorize(await begin(), person('ada'));
    const other = new TestBrowser(() => platform.service.url);
    expect((await other.visit(`${CALLBACK}?${back}`)).status).toBe(403);
    other.cookies.set('runyard_sso', 'guessed');
    expect((await other.visit(`${CALLBACK}?${back}`)).status).toBe(403);
    expect((await browser.visit(`${CALLBACK}?${back}`)).status).toBe(303);
    expect((await browser.visit(`${CALLBACK}?${back}`)).status).toBe(403);
    expect(other.isSignedIn).toBe(false);
  });

  it.each([
    ['another issuer', { iss: 'https://evil.example.com' }],
    ['another audience', { aud: 'other' }],
    ['several audiences without an authorized party', { aud: ['runyard', 'other'] }],
    ['another authorized party', { azp: 'other' }],
    ['another nonce', { nonce: 'other' }],
    ['an end more than a minute ago', { exp: Math.floor(Date.now() / 1000) - 90 }],
    ['a beginning in more than a minute', { nbf: Math.floor(Date.now() / 1000) + 300 }],
    ['no address', { email: undefined }],
    ['an address that is not verified', { email_verified: false }],
    ['an address of which nothing is said', { email_verified: undefined }],
  ])('is refused with a page for a token with %s', async (_, claims) => {
    const answer = await signIn({ ...person('mallory'), ...claims });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('<h1>Sign-in failed</h1>');
    expect(browser.isSignedIn).toBe(false);
    expect(await rolesOf('mallory@example.com')).toEqual([]);
  });

  it('is refused for an answer that says that it is of another provider', async () => {
    const back = idp.authorize(await begin(), person('mallory'));
    expect((await browser.visit(`${CALLBACK}?${back}&iss=https://evil.example.com`)).status).toBe(403);
    expect(browser.isSignedIn).toBe(false);
  });

  it('is refused for a token that another key signed', async () => {
    expect((await signIn(person('mallory'), { key: 'foreign' })).status).toBe(403);
    expect(browser.isSignedIn).toBe(false);
  });

  it('accepts clocks that differ by less than a minute, and several audiences with the right authorized party', async () => {
    const claims = { aud: ['runyard', 'other'], azp: 'runyard', exp: Math.floor(Date.now() / 1000) - 30 };
    expect((await signIn({ ...person('ada'), ...claims })).status).toBe(303);
  });

  it('goes on after the provider rotated its keys', async () => {
    await signIn(person('ada'));
    await idp.rotateKey();
    const requests = idp.keySetRequests;
    await platform.restart();
    expect((await signIn(person('ada'))).status).toBe(303);
    await idp.rotateKey();
    // Unknown keys are looked for at most once a second.
    await expect.poll(async () => (await signIn(person('ada'))).status, { interval: 200 }).toBe(303);
    expect(idp.keySetRequests).toBeGreaterThan(requests);
  });

  it('trusts a provider without the claim when the settings say so, but never one that denies it', async () => {
    await change({ is_email_trusted: true });
    expect((await signIn({ ...person('ada'), email_verified: undefined })).status).toBe(303);
    expect((await signIn({ ...person('ada'), email_verified: false })).status).toBe(403);
    await change({ is_email_trusted: false });
  });

  it('shows a page when the person is no member, when the provider refuses, and when there is none', async () => {
    await platform.asAdmin('PATCH', '/api/v1/orgs/current/info', { jit_provisioning_enabled: false });
    const denied = await signIn(person('stranger'));
    expect(denied).toMatchObject({ status: 403, text: expect.stringContaining('not a member') });
    expect(await query('SELECT id FROM person WHERE email = $1', 'stranger@example.com')).toEqual([]);
    await platform.asAdmin('PATCH', '/api/v1/orgs/current/info', { jit_provisioning_enabled: true });
    const state = new URL(await begin()).searchParams.get('state');
    expect((await browser.visit(`${CALLBACK}?error=access_denied&state=${state}`)).text).toContain('refused');
    expect((await browser.visit(`/auth/v1/sso/start/${PLATFORM_ROLES.workspaceUser}`)).status).toBe(404);
    expect((await browser.visit('/auth/v1/sso/login/default')).location).toContain(`/auth/v1/sso/start/${provider.id}`);
    expect((await browser.visit('/auth/v1/sso/login/nobody')).status).toBe(404);
  });
});

describe('a provider that an administrator made', () => {
  let malicious: TestOidcProvider;
  const callbackOf = ({ callback_url: url }: SsoSettings) => new URL(url).pathname;
  const make = async (issuer: string) => {
    const { body } = await platform.asAdmin<SsoSettings>('POST', SETTINGS, {
      default_workspace_role_id: PLATFORM_ROLES.workspaceUser,
      default_workspace_ids: [platform.bootstrap.workspace_id],
      issuer_url: issuer,
      client_id: 'runyard',
      client_secret: 'the secret of an administrator',
    });
    return body;
  };
  const start = async ({ id }: SsoSettings) => (await browser.visit(`/auth/v1/sso/start/${id}`)).location;
  const patch = ({ id }: SsoSettings, body: object) =>
    platform.asAdmin<SsoSettings>('PATCH', `${SETTINGS}/${id}`, body);
  beforeAll(async () => {
    malicious = await TestOidcProvider.start();
  });
  afterAll(() => malicious?.close());

  it('gets no code of an honest provider to which it forwards a browser', async () => {
    const [honest, attacker] = [await make(idp.issuer), await make(malicious.issuer)];
    const addresses = [CALLBACK, callbackOf(honest)];
    for (const address of addresses) {
      const stolen = idp.authorize(await start(attacker), person('victim'));
      expect((await browser.visit(`${address}?${stolen}`)).status, address).toBe(403);
    }
    expect(malicious.tokenRequests).toBe(0);
    expect(browser.isSignedIn).toBe(false);
    for (const { id } of [honest, attacker]) await platform.asAdmin('DELETE', `${SETTINGS}/${id}`);
  });

  it('sends browsers back to an address of its own, and one of the variables to the shared one', async () => {
    const own = await make(idp.issuer);
    expect(callbackOf(own)).toBe(`${CALLBACK}/${own.id}`);
    expect(callbackOf(provider)).toBe(CALLBACK);
    const location = await start(own);
    expect(new URL(location).searchParams.get('redirect_uri')).toBe(own.callback_url);
    const answer = await browser.visit(
      `${CALLBACK}/${own.id.toUpperCase()}?${idp.authorize(location, person('olga'))}`,
    );
    expect(answer.status).toBe(303);
    const before = idp.tokenRequests;
    const elsewhere = idp.authorize(await begin(), person('olga'));
    expect((await browser.visit(`${callbackOf(own)}?${elsewhere}`)).status).toBe(403);
    expect((await browser.visit(`${CALLBACK}/nonsense?${elsewhere}`)).status).toBe(422);
    expect(idp.tokenRequests).toBe(before);
    await platform.asAdmin('DELETE', `${SETTINGS}/${own.id}`);
  });

  it('from an earlier release keeps the shared address until it is moved or gets another issuer, and never goes back', async () => {
    const [moved, changed] = [await make(idp.issuer), await make(idp.issuer)];
    await query(
      'UPDATE sso_provider SET has_own_callback = false WHERE id IN ($1::uuid, $2::uuid)',
      moved.id,
      changed.id,
    );
    const kept = await patch(moved, { display_name: 'Company' });
    expect(kept.body).toMatchObject({ has_own_callback: false, callback_url: expect.stringMatching(/callback$/) });
    const back = idp.authorize(await start(moved), person('olga'));
    expect((await browser.visit(`${CALLBACK}?${back}`)).status).toBe(303);
    const own = ({ callback_url }: SsoSettings) => ({ status: 200, body: { has_own_callback: true, callback_url } });
    expect(await patch(moved, { has_own_callback: true })).toMatchObject(own(moved));
    expect((await patch(moved, { has_own_callback: false })).status).toBe(422);
    const issuer = { issuer_url: malicious.issuer, client_secret: 'another secret' };
    expect(await patch(changed, issuer)).toMatchObject(own(changed));
    for (const { id } of [moved, changed]) await platform.asAdmin('DELETE', `${SETTINGS}/${id}`);
  });
});

describe('groups of the provider', () => {
  it('give and take roles by their names at each sign-in, and never take those of others', async () => {
    await change({ sso_groups_enabled: true });
    const groups = (...names: string[]) => signIn({ ...person('grace'), groups: names });
    const workspaceRole = async () => (await rolesOf('grace@example.com'))[0]?.role;
    await groups('rg:Organization User:Workspace 1:Admin', 'unrelated');
    expect(await workspaceRole()).toBe(PLATFORM_ROLES.workspaceAdmin);
    await groups('rg:Organization User:Workspace 1:Viewer', 'rg:Organization User:Workspace 1:Admin');
    expect(await workspaceRole()).toBe(PLATFORM_ROLES.workspaceAdmin);
    await groups('rg:Organization User:Workspace 1:Viewer');
    expect(await workspaceRole()).toBe(PLATFORM_ROLES.workspaceViewer);
    expect(browser.isSignedIn).toBe(true);
    await groups();
    expect(await workspaceRole(), 'the role of the first sign-in').toBe(PLATFORM_ROLES.workspaceEditor);
    await groups('Company Organization Admins');
    expect((await rolesOf('grace@example.com'))[0]?.organization).toBe(PLATFORM_ROLES.organizationAdmin);
    await groups();
    expect((await rolesOf('grace@example.com'))[0]?.organization, 'the last administrator keeps the role').toBe(
      PLATFORM_ROLES.organizationAdmin,
    );
  });

  it('are required for sign-in where the settings say so', async () => {
    await change({ sso_groups_enabled: true, sso_groups_required: true });
    expect((await signIn({ ...person('heidi'), groups: ['unrelated'] })).text).toContain('no group');
    const named = await signIn({ ...person('heidi'), groups: ['Organization User:Workspace 1:Viewer'] });
    expect(named.status).toBe(303);
    await change({ sso_groups_enabled: false, sso_groups_required: false });
  });
});

describe('sign-out', () => {
  const live = async (email: string) =>
    (
      await query(
        'SELECT session.id FROM session JOIN person ON person.id = person_id WHERE email = $1 AND ended_at IS NULL',
        email,
      )
    ).length;
  const logoutToken = (claims: Record<string, unknown>) => {
    const iat = Math.floor(Date.now() / 1000);
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    const all = {
      iss: idp.issuer,
      aud: 'runyard',
      iat,
      exp: iat + 120,
      jti: `jti-${Math.random()}`,
      events,
      ...claims,
    };
    return idp.sign(all);
  };
  const send = async (token: string) =>
    (await new TestBrowser(() => platform.service.url).visit(LOGOUT, { form: { logout_token: token } })).status;

  it('at the provider ends the session that it names, once, and no other', async () => {
    await signIn({ ...person('ivan'), sid: 'session-a' });
    await signIn({ ...person('ivan'), sid: 'session-b' });
    const refused = [
      await logoutToken({ sid: 'session-a', sub: 'ivan', aud: 'other' }),
      await logoutToken({ sid: 'session-a', sub: 'ivan', iss: 'https://evil.example.com' }),
      await logoutToken({ sid: 'session-a', sub: 'ivan', events: {} }),
      await logoutToken({ sid: 'session-a', sub: 'ivan', nonce: 'as in an ID token' }),
      await logoutToken({ sid: 'session-a', sub: 'ivan', iat: 1_000, exp: undefined }),
      await logoutToken({}),
      await logoutToken({ sub: 'ivan', iss: 5 }),
      await logoutToken({ sub: 'ivan', aud: ['runyard', { no: 'text' }], iss: null }),
      'no token',
    ];
    for (const token of refused) expect(await send(token)).toBe(422);
    expect(await live('ivan@example.com')).toBe(2);
    const good = await logoutToken({ sid: 'session-a', sub: 'ivan' });
    expect(await send(good)).toBe(200);
    expect(await live('ivan@example.com')).toBe(1);
    expect(await send(good), 'a replay').toBe(422);
    expect(await send(await logoutToken({ sub: 'ivan' }))).toBe(200);
    expect(await live('ivan@example.com')).toBe(0);
  });

  it('at the provider ends the sessions of every setting with the same client', async () => {
    const { body: second } = await platform.asAdmin<SsoSettings>('POST', SETTINGS, {
      default_workspace_role_id: PLATFORM_ROLES.workspaceUser,
      default_workspace_ids: [platform.bootstrap.workspace_id],
      issuer_url: idp.issuer,
      client_id: 'runyard',
      client_secret: 'the secret of the second setting',
    });
    await signIn(person('kim'));
    const { location } = await browser.visit(`/auth/v1/sso/start/${second.id}`);
    const { pathname } = new URL(second.callback_url);
    expect((await browser.visit(`${pathname}?${idp.authorize(location, person('kim'))}`)).status).toBe(303);
    expect(await live('kim@example.com')).toBe(2);
    const token = await logoutToken({ sub: 'kim' });
    expect(await send(token)).toBe(200);
    expect(await live('kim@example.com')).toBe(0);
    expect(await send(token), 'a replay').toBe(422);
    await platform.asAdmin('DELETE', `${SETTINGS}/${second.id}`);
  });

  it('here ends the session and goes on to the provider, with a form of the session alone', async () => {
    await signIn(person('judy'));
    const token = browser.cookies.get('runyard_session')!;
    const forged = await browser.visit('/auth/v1/sso/logout', { form: { csrf_token: 'guessed' } });
    expect(forged.status).toBe(403);
    expect(await live('judy@example.com')).toBe(1);
    const answer = await browser.visit('/auth/v1/sso/logout', { form: { csrf_token: csrfTokenOf(token) } });
    expect(answer.location).toContain(`${idp.issuer}/logout?`);
    expect(new URL(answer.location).searchParams.get('id_token_hint')).toMatch(/^ey/);
    expect(browser.isSignedIn).toBe(false);
    expect(await live('judy@example.com')).toBe(0);
  });

  it('of a program or by the form of the account leads to the provider too, and leaves an event', async () => {
    await signIn(person('kim'));
    const token = browser.cookies.get('runyard_session')!;
    const byApi = await platform.callAs<{ logout_url: string | null }>(
      { token },
      'POST',
      '/api/v1/sessions/current/logout',
    );
    expect(byApi).toMatchObject({
      status: 200,
      body: { logout_url: expect.stringContaining(`${idp.issuer}/logout?`) },
    });
    expect(await live('kim@example.com')).toBe(0);
    await signIn(person('kim'));
    const pages = new PageClient(platform.service.url);
    pages.cookies.set('runyard_session', browser.cookies.get('runyard_session')!);
    const csrf = csrfTokenOf(pages.sessionToken!);
    const byForm = await pages.submit('/auth/sign-out', { csrf });
    expect(byForm.text).toContain(`href="${idp.issuer}/logout?`);
    expect(pages.sessionToken).toBeUndefined();
    expect(await live('kim@example.com')).toBe(0);
    const events = await query(
      `SELECT 1 FROM audit_event JOIN person ON person.id = person_id
       WHERE email = 'kim@example.com' AND action = 'session.ended' AND details->>'reason' = 'signed_out'`,
    );
    expect(events).toHaveLength(2);
  });
});
