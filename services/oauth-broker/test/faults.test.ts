import type { ServerResponse } from 'node:http';
import type { OAuthTokenSummary } from '@runyard/contracts';
import { withDatabaseClient } from '@runyard/test-kit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { someone, TestBroker } from './support/broker.ts';

let broker: TestBroker;
beforeAll(async () => {
  broker = await TestBroker.start(['plain', 'other', 'moved'], { OAUTH_PROVIDER_TIMEOUT_SECONDS: '2' });
  await broker.provider('plain');
  await broker.provider('other');
});
afterAll(() => broker.close());
afterEach(() => {
  broker.server.overrides.clear();
  broker.server.lifetimeSeconds = 3600;
});

const sql = (text: string, ...values: unknown[]) =>
  withDatabaseClient(broker.platform.database.url, (client) => client.query(text, values));
const json = (res: ServerResponse, status: number, body: unknown) =>
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const ask = (as: object, body: object = {}) =>
  broker.call('POST', '/authenticate', { provider: 'plain', scopes: ['repo'], ...body }, as);

/** Creates a user with a token of this lifetime. */
async function holder(lifetimeSeconds: number) {
  const alice = someone();
  broker.server.lifetimeSeconds = lifetimeSeconds;
  const token = await broker.connect('plain', {}, alice);
  return { alice, token };
}

/** Creates a user with an expired token. */
async function lateHolder(refreshToken: string | null = 'a-refresh-token') {
  const alice = someone();
  const body = {
    provider_id: 'plain',
    access_token: 'old',
    refresh_token: refreshToken,
    expires_in_seconds: 1,
    scopes: ['repo'],
  };
  const { body: made } = await broker.call('POST', '/tokens/import', body, alice);
  await sql("UPDATE oauth_token SET expires_at = now() - interval '1 hour' WHERE id = $1", made.token_id);
  return alice;
}

describe('a provider that does not refresh', () => {
  it('is reported as unavailable, and asked again', async () => {
    const alice = await lateHolder();
    broker.server.overrides.set('/token', (_, res) => res.destroy());
    expect(await ask(alice)).toEqual({
      status: 502,
      body: { detail: "The OAuth provider 'plain' cannot be reached." },
    });
    broker.server.overrides.set('/token', (_, res) => json(res, 200, { access_token: 'fresh', token_type: 'Bearer' }));
    expect(await ask(alice)).toMatchObject({ status: 200, body: { status: 'completed', token: 'fresh' } });
  });

  it.each([
    ['a page', (res: ServerResponse) => res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>')],
    ['no token', (res: ServerResponse) => json(res, 200, { token_type: 'bearer' })],
    ['a list', (res: ServerResponse) => json(res, 200, ['canary-token'])],
    [
      'half an answer',
      (res: ServerResponse) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"access_'),
    ],
    ['a wrong lifetime', (res: ServerResponse) => json(res, 200, { access_token: 'canary-token', expires_in: 'soon' })],
    ['a redirect', (res: ServerResponse) => res.writeHead(307, { location: 'http://169.254.169.254/' }).end()],
    ['nothing for long', () => undefined],
    ['a failure', (res: ServerResponse) => json(res, 503, { error: 'temporarily_unavailable' })],
  ])('is reported when it answers with %s', async (_, answer) => {
    const alice = await lateHolder();
    broker.server.overrides.set('/token', (_req, res) => void answer(res));
    expect((await ask(alice)).status).toBe(502);
    expect(broker.platform.service.output()).not.toContain('canary-token');
  });

  it('does not take away a token that is valid for a little longer', async () => {
    const { alice, token } = await holder(50);
    broker.server.overrides.set('/token', (_, res) => res.destroy());
    expect((await ask(alice)).body).toMatchObject({ status: 'completed', token });
  });

  it.each([
    ['by the standard', 400, { error: 'invalid_grant' }],
    ['as GitHub does', 200, { error: 'bad_refresh_token' }],
  ])('and refuses %s leads back to the person, and is not asked again', async (_, status, answer) => {
    const alice = await lateHolder();
    let asked = 0;
    broker.server.overrides.set('/token', (_req, res) => {
      asked += 1;
      json(res, status, answer);
    });
    for (let time = 0; time < 2; time++) {
      expect((await ask(alice)).body).toMatchObject({
        status: 'token_expired',
        url: expect.any(String),
        auth_id: expect.any(String),
      });
    }
    expect(asked).toBe(1);
    broker.server.overrides.clear();
    const begun = await broker.authenticate('plain', {}, alice);
    await broker.callback('plain', await broker.consent(begun));
    expect((await ask(alice)).body).toMatchObject({ status: 'completed' });
    const { body } = await broker.call<OAuthTokenSummary[]>('GET', '/tokens', undefined, alice);
    expect(body).toHaveLength(1);
  });

  it('gives no token without a refresh token either', async () => {
    const alice = await lateHolder(null);
    expect((await ask(alice)).body).toMatchObject({ status: 'token_expired', url: expect.any(String) });
  });

  it("and moved to another address does not get the old address's refresh token", async () => {
    await broker.provider('moved');
    const alice = someone();
    const body = { provider_id: 'moved', access_token: 'old', refresh_token: 'refresh-canary', expires_in_seconds: 1 };
    await broker.call('POST', '/tokens/import', body, alice);
    const moved = { token_url: 'http://127.0.0.1:9/token', client_secret: 'another' };
    expect((await broker.call('PATCH', '/providers/moved', moved)).status).toBe(200);
    await sql("UPDATE oauth_token SET expires_at = now() - interval '1 hour'");
    expect((await ask(alice, { provider: 'moved' })).body).toMatchObject({ status: 'token_expired' });
  });
});

describe('a wait for an authorization', () => {
  it('is answered with 200 even if the token has expired and its provider is unavailable', async () => {
    const alice = someone();
    const begun = await broker.authenticate('plain', {}, alice);
    await broker.callback('plain', await broker.consent(begun));
    await sql("UPDATE oauth_token SET expires_at = now() - interval '1 hour' WHERE owner = $1", alice.sub);
    broker.server.overrides.set('/token', (_, res) => res.destroy());
    const wait = () => broker.call('GET', `/wait/${begun.auth_id}`, undefined, alice);
    expect(await wait()).toEqual({ status: 200, body: { status: 'timeout' } });
    broker.server.overrides.clear();
    expect((await wait()).body).toMatchObject({ status: 'completed' });
  });
});

describe('the callback', () => {
  it('accepts a state once', async () => {
    const query = await broker.consent(await broker.authenticate('plain', {}, someone()));
    const all = await Promise.all(Array.from({ length: 4 }, () => broker.callback('plain', query)));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    expect(await (await broker.callback('plain', query)).text()).toContain('was used before');
  });

  it.each([
    ['no state', {}],
    ['an invented state', { state: '0192f7a0-0000-4000-8000-0000000000ff.abc' }],
    ['nonsense', { state: '\u0000<script>alert(1)</script>' }],
  ])('refuses %s', async (_, query) => {
    const page = await broker.callback('plain', { code: 'x', ...query });
    expect(page.status).toBe(400);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(await page.text()).not.toContain('<script>');
  });

  it('refuses a state of another provider, and leaves it valid', async () => {
    const query = await broker.consent(await broker.authenticate('plain', {}, someone()));
    expect((await broker.callback('other', query)).status).toBe(400);
    expect((await broker.callback('plain', query)).status).toBe(200);
  });

  it("shows the provider's error as text, and ends the wait", async () => {
    const alice = someone();
    const begun = await broker.authenticate('plain', {}, alice);
    const state = new URL(await broker.begin(begun)).searchParams.get('state')!;
    const waiting = broker.call('GET', `/wait/${begun.auth_id}?timeout=60`, undefined, alice);
    const page = await broker.callback('plain', {
      error: 'access_denied',
      error_description: '<img src=x onerror=alert(1)>',
      state,
    });
    expect(page.status).toBe(400);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('cache-control')).toBe('no-store');
    const text = await page.text();
    expect(text).toContain('access_denied: &lt;img');
    expect(text).not.toContain('<img');
    expect((await waiting).body).toEqual({ status: 'not_found' });
  });

  it('redirects to no address that a request names', async () => {
    const query = await broker.consent(await broker.authenticate('plain', {}, someone()));
    query.set('redirect_uri', 'https://evil.example');
    query.set('return_to', 'https://evil.example');
    const page = await broker.callback('plain', query);
    expect({ status: page.status, location: page.headers.get('location') }).toEqual({ status: 200, location: null });
  });

  it('keeps no token of a person who was removed during the exchange, and revokes it', async () => {
    const begun = await broker.authenticate('plain', {}, someone());
    const query = await broker.consent(begun);
    const grant = { access_token: 'too-late', refresh_token: 'too-late-too', token_type: 'Bearer' };
    broker.server.overrides.set('/token', async (_, res) => {
      await sql("UPDATE oauth_flow SET status = 'failed' WHERE id = $1 AND status = 'exchanging'", begun.auth_id);
      json(res, 200, grant);
    });
    const revoked: string[] = [];
    broker.server.overrides.set('/token/revocation', (req, res) => {
      req.on('data', (chunk) => revoked.push(new URLSearchParams(String(chunk)).get('token')!));
      req.on('end', () => res.end());
    });
    const page = await broker.callback('plain', query);
    expect(page.status).toBe(400);
    expect(await page.text()).toContain('was ended meanwhile');
    expect(revoked).toEqual(['too-late-too', 'too-late']);
    const { rows } = await sql('SELECT status, token_id FROM oauth_flow WHERE id = $1', begun.auth_id);
    expect(rows).toEqual([{ status: 'failed', token_id: null }]);
  });

  it('is refused after the state has expired', async () => {
    const begun = await broker.authenticate('plain', {}, someone());
    const query = await broker.consent(begun);
    await sql("UPDATE oauth_flow SET expires_at = now() - interval '1 s' WHERE id = $1", begun.auth_id);
    expect((await broker.callback('plain', query)).status).toBe(400);
  });
});

describe('an address of a provider', () => {
  it.each([
    'http://169.254.169.254/latest',
    'http://[::1]/token',
    'http://10.0.0.1/token',
    'http://localhost:8080/token',
    'https://metadata.google.internal/token',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://user:secret@example.com/token',
    'nonsense',
  ])('must not be %s', async (url) => {
    const body = {
      provider_id: 'bad',
      name: 'x',
      client_id: 'x',
      auth_url: 'https://a.example',
      token_url: 'https://a.example',
    };
    for (const changes of [{ token_url: url }, { auth_url: url }]) {
      expect((await broker.call('POST', '/providers', { ...body, ...changes })).status).toBe(400);
      expect((await broker.call('PATCH', '/providers/plain', changes)).status).toBe(400);
    }
    const mcp = { provider_id: 'bad', name: 'x', mcp_server_url: url };
    expect((await broker.call('POST', '/providers/mcp-discover', mcp)).status).toBe(400);
  });
});

describe('the setup page of a Git application', () => {
  it.each(['install', 'update', 'request'])('shows the result of %s', async (action) => {
    const url = `${broker.platform.service.url}/v2/auth/setup/github?setup_action=${action}&installation_id=17`;
    const page = await fetch(url);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('installation 17');
  });

  it('accepts an account that was requested on the way', async () => {
    const alice = someone();
    const begun = await broker.authenticate('plain', {}, alice);
    const query = await broker.consent(begun);
    const setup = (more: Record<string, string>) =>
      broker.open(`/v2/auth/setup/plain?${new URLSearchParams({ ...Object.fromEntries(query), ...more })}`);
    const updated = await (await setup({ setup_action: 'update' })).text();
    expect(updated).toContain('What it may see was changed');
    const page = await setup({ setup_action: 'install', installation_id: '17' });
    expect(await page.text()).toContain('Your account is connected');
    expect((await ask(alice)).body).toMatchObject({ status: 'completed' });
    expect((await setup({})).status).toBe(400);
  });

  it('refuses other actions', async () => {
    const page = await fetch(`${broker.platform.service.url}/v2/auth/setup/github?setup_action=explode`);
    expect(page.status).toBe(422);
  });
});
