import type { OAuthProvider, OAuthTokenSummary } from '@runyard/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECRET, someone, TestBroker } from './support/broker.ts';

let broker: TestBroker;
beforeAll(async () => {
  broker = await TestBroker.start(['plain', 'gone']);
  await broker.provider('plain');
});
afterAll(() => broker.close());

const exists = (id: string, as = {}) => broker.call('GET', `/tokens/exists?provider_id=${id}`, undefined, as);
const list = async (as: object) => (await broker.call<OAuthTokenSummary[]>('GET', '/tokens', undefined, as)).body;

describe('a provider', () => {
  it('never shows its secret, and stores it encrypted', async () => {
    const created = await broker.provider('pinned', { uses_pkce: true });
    expect(created).toMatchObject({
      provider_id: 'pinned',
      client_id: 'runyard',
      uses_pkce: true,
      code_challenge_method: 'S256',
      provider_type: null,
      token_endpoint_auth_method: 'client_secret_post',
      mcp_server_url: null,
      is_dynamic_client: false,
    });
    const { body: all } = await broker.call<OAuthProvider[]>('GET', '/providers');
    expect(all.map(({ provider_id }) => provider_id)).toContain('pinned');
    expect(JSON.stringify([created, all])).not.toContain(SECRET);
    expect(await broker.platform.dump()).not.toContain(SECRET);
  });

  it('changes only the fields that are sent, and is visible only to its organization', async () => {
    await broker.provider('changing');
    const { body } = await broker.call('PATCH', '/providers/changing', { name: 'Changed', client_secret: null });
    expect(body).toMatchObject({ name: 'Changed', client_id: 'runyard', auth_url: broker.server.authUrl });
    const elsewhere = { organization_id: '11111111-0000-4000-8000-000000000009' };
    expect((await broker.call('GET', '/providers/changing', undefined, elsewhere)).status).toBe(404);
    expect((await broker.call('GET', '/providers', undefined, elsewhere)).body).toEqual([]);
  });

  it('has its secret sent only to the address it was given for', async () => {
    await broker.provider('moving');
    const path = '/providers/moving';
    for (const address of [{ token_url: 'https://b.example/token' }, { auth_url: 'https://b.example/auth' }]) {
      expect(await broker.call('PATCH', path, { ...address, client_secret: null })).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining("'client_secret'") },
      });
    }
    const { authUrl: auth_url, tokenUrl: token_url } = broker.server;
    expect((await broker.call('PATCH', path, { name: 'Same', auth_url, token_url })).body).toMatchObject({ token_url });
    const address = await broker.begin(await broker.authenticate('moving', {}, someone()));
    const moved = await broker.call('PATCH', path, { token_url: 'https://b.example/token', client_secret: 'another' });
    expect(moved).toMatchObject({ status: 200, body: { name: 'Same', token_url: 'https://b.example/token' } });
    const state = new URL(address).searchParams.get('state')!;
    expect((await broker.callback('moving', { code: 'of-before', state })).status).toBe(400);
    await broker.provider('open', { client_secret: null });
    expect((await broker.call('PATCH', '/providers/open', { token_url: 'https://b.example/token' })).status).toBe(200);
  });

  it('is created, changed and deleted by administrators', async () => {
    const member = { permissions: ['organization:read'] };
    expect((await broker.call('GET', '/providers/plain', undefined, member)).status).toBe(200);
    const body = {
      provider_id: 'x',
      name: 'x',
      client_id: 'x',
      auth_url: 'https://a.example',
      token_url: 'https://a.example',
    };
    for (const [method, path, sent] of [
      ['POST', '/providers', body],
      ['PATCH', '/providers/plain', { name: 'x' }],
      ['DELETE', '/providers/plain', undefined],
      ['POST', '/providers/mcp-discover', { provider_id: 'x', name: 'x', mcp_server_url: 'https://a.example' }],
    ] as const) {
      expect({ method, path, status: (await broker.call(method, path, sent, member)).status }).toMatchObject({
        status: 403,
      });
    }
  });

  it('needs no secret, like public clients', async () => {
    for (const client_secret of ['', null, undefined]) {
      const made = await broker.provider(`public-${typeof client_secret}`, { client_secret });
      expect(made).toMatchObject({ token_endpoint_auth_method: 'none' });
    }
  });

  it('keeps its authentication method until it gets a secret', async () => {
    const body = { client_secret: null, token_endpoint_auth_method: 'client_secret_basic' };
    expect(await broker.provider('later', body)).toMatchObject({ token_endpoint_auth_method: 'none' });
    const { body: changed } = await broker.call('PATCH', '/providers/later', { client_secret: SECRET });
    expect(changed).toMatchObject({ token_endpoint_auth_method: 'client_secret_basic' });
  });

  it('may have any name, even with characters that a database cannot store', async () => {
    const made = await broker.provider('odd', { name: 'a\u0000b', client_id: '\ud800' });
    expect(made).toMatchObject({ name: 'a\ufffdb', client_id: '\ufffd' });
    expect((await broker.call('PATCH', '/providers/odd', { name: '\u0000' })).body).toMatchObject({ name: '\ufffd' });
  });

  it('has a unique name', async () => {
    const body = {
      provider_id: 'plain',
      name: 'x',
      client_id: 'x',
      auth_url: 'https://a.example',
      token_url: 'https://a.example',
    };
    expect(await broker.call('POST', '/providers', body)).toMatchObject({
      status: 409,
      body: { detail: "An OAuth provider 'plain' already exists in this organization." },
    });
  });

  it('is deleted with its tokens', async () => {
    const alice = someone();
    await broker.provider('gone');
    const token = await broker.connect('gone', {}, alice);
    expect(await broker.call('DELETE', '/providers/gone')).toEqual({
      status: 200,
      body: { message: "OAuth provider 'gone' deleted." },
    });
    expect(await broker.server.isValidToken(token)).toBe(false);
    expect(await list(alice)).toEqual([]);
  });
});

describe('the check for tokens', () => {
  it('answers for each user separately, across agents', async () => {
    const alice = someone();
    await broker.connect('plain', { user_id: 'somebody', agent_id: 'some-agent' }, alice);
    expect(await exists('plain', alice)).toEqual({ status: 200, body: { has_token: true } });
    expect(await exists('plain', someone())).toEqual({ status: 200, body: { has_token: false } });
    const elsewhere = { ...alice, organization_id: '11111111-0000-4000-8000-000000000009' };
    expect((await exists('plain', elsewhere)).body).toEqual({ has_token: false });
  });

  it('answers no for an unknown provider, whatever its name', async () => {
    for (const id of ['nowhere', '', '%00', '%F0%9F%8D%B5', 'x'.repeat(3000)]) {
      expect({ id, ...(await exists(id)) }).toEqual({ id, status: 200, body: { has_token: false } });
    }
  });

  it('is refused without a provider', async () => {
    expect(await broker.call('GET', '/tokens/exists')).toEqual({
      status: 422,
      body: { detail: [{ loc: ['query', 'provider_id'], msg: 'Field required', type: 'missing' }] },
    });
  });

  it('answers for several providers at once', async () => {
    const alice = someone();
    await broker.connect('plain', {}, alice);
    const answer = await broker.call('POST', '/tokens/exists/batch', { provider_ids: ['plain', 'nowhere'] }, alice);
    expect(answer).toEqual({ status: 200, body: { has_token: { plain: true, nowhere: false } } });
  });

  it('requires a known caller', async () => {
    const answer = await fetch(`${broker.platform.service.url}/v2/auth/tokens/exists?provider_id=plain`, {
      headers: { 'x-tenant-id': '22222222-0000-4000-8000-000000000001' },
    });
    expect(answer.status).toBe(401);
  });
});

describe('a stored token', () => {
  it('is listed without its value', async () => {
    const alice = someone();
    const token = await broker.connect('plain', { scopes: ['openid', 'email', 'repo'] }, alice);
    const tokens = await list(alice);
    expect(tokens).toMatchObject([
      {
        provider_id: 'plain',
        provider_account_label: 'alice@example.com',
        scopes: expect.arrayContaining(['repo']),
        is_default: true,
      },
    ]);
    expect(JSON.stringify(tokens)).not.toContain(token);
  });

  it('is revoked at the provider and deleted, only by its owner', async () => {
    const alice = someone();
    const token = await broker.connect('plain', {}, alice);
    const [{ id }] = (await list(alice)) as [OAuthTokenSummary];
    expect((await broker.call('DELETE', `/tokens/${id}`, undefined, someone())).status).toBe(404);
    expect((await broker.call('DELETE', `/tokens/${id}`, undefined, alice)).status).toBe(204);
    expect(await broker.server.isValidToken(token)).toBe(false);
    expect(await list(alice)).toEqual([]);
  });

  it('is not returned, changed or deleted for a read-only key of its owner', async () => {
    const alice = someone();
    const token = await broker.connect('plain', {}, alice);
    const [{ id }] = (await list(alice)) as [OAuthTokenSummary];
    const begun = await broker.authenticate('plain', { force_new: true }, alice);
    const attempts = [
      ['POST', '/authenticate', { provider: 'plain', scopes: ['repo'] }],
      ['GET', `/wait/${begun.auth_id}?timeout=1`],
      ['POST', '/callback/plain', Object.fromEntries(await broker.consent(begun))],
      ['POST', '/tokens/import', { provider_id: 'plain', access_token: 'another' }],
      ['PATCH', `/tokens/${id}/metadata`, { provider_account_label: 'mine' }],
      ['DELETE', `/tokens/${id}`],
      ['DELETE', '/tokens?provider_id=plain'],
      ['DELETE', `/agents/agent/connections/${id}`],
    ] as const;
    for (const [method, path, body] of attempts) {
      const { status } = await broker.call(method, path, body, { ...alice, read_only: true });
      expect({ method, path, status }).toEqual({ method, path, status: 403 });
    }
    expect(await list({ ...alice, read_only: true })).toMatchObject([{ id, provider_account_label: null }]);
    expect(await broker.server.isValidToken(token)).toBe(true);
  });

  it('stays while the provider is unavailable, and is deleted with all tokens of that provider', async () => {
    const alice = someone();
    await broker.connect('plain', {}, alice);
    const [{ id }] = (await list(alice)) as [OAuthTokenSummary];
    broker.server.overrides.set('/token/revocation', (_, res) => res.writeHead(503).end());
    try {
      expect((await broker.call('DELETE', `/tokens/${id}`, undefined, alice)).status).toBe(502);
      expect(await list(alice)).toHaveLength(1);
      expect(await broker.call('DELETE', '/tokens?provider_id=plain', undefined, alice)).toEqual({
        status: 200,
        body: {
          message: 'Deleted 1 token. The provider could not be told to revoke 1 of them.',
          provider_id: 'plain',
        },
      });
    } finally {
      broker.server.overrides.clear();
    }
    expect(await list(alice)).toEqual([]);
  });

  it("stays when the provider refuses the platform's revocation", async () => {
    const alice = someone();
    await broker.connect('plain', {}, alice);
    const [{ id }] = (await list(alice)) as [OAuthTokenSummary];
    broker.server.overrides.set('/token/revocation', (_, res) =>
      res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}'),
    );
    try {
      expect(await broker.call('DELETE', `/tokens/${id}`, undefined, alice)).toMatchObject({
        status: 400,
        body: { detail: "The OAuth provider 'plain' refused: invalid_client" },
      });
    } finally {
      broker.server.overrides.clear();
    }
    expect(await list(alice)).toHaveLength(1);
  });

  it('gets a label, and may become the default', async () => {
    const alice = someone();
    await broker.connect('plain', {}, alice);
    await broker.connect('plain', { force_new: true }, alice);
    const [newer, older] = (await list(alice)) as [OAuthTokenSummary, OAuthTokenSummary];
    expect([newer.is_default, older.is_default]).toEqual([true, false]);
    const patch = { provider_account_label: 'wo\ufffdrk', is_default: true };
    const path = `/tokens/${older.id}/metadata`;
    expect((await broker.call('PATCH', path, patch, someone())).status).toBe(404);
    const sent = { ...patch, provider_account_label: 'wo\u0000rk' };
    expect((await broker.call('PATCH', path, sent, alice)).body).toMatchObject({ ...patch, id: older.id });
    expect((await list(alice)).map(({ is_default }) => is_default)).toEqual([false, true]);
  });

  it('can be imported', async () => {
    const alice = someone();
    const body = {
      provider_id: 'plain',
      access_token: 'imported-canary',
      expires_in_seconds: 600,
      scopes: ['repo'],
      metadata: { instance_url: 'https://x.example', cookie: 'metadata-canary' },
    };
    const { status, body: answer } = await broker.call('POST', '/tokens/import', body, alice);
    expect({ status, answer }).toEqual({ status: 200, answer: { token_id: expect.any(String) } });
    expect(await broker.authenticate('plain', { token_id: answer.token_id }, alice)).toMatchObject({
      status: 'completed',
      token: 'imported-canary',
      metadata: { instance_url: 'https://x.example', cookie: 'metadata-canary' },
    });
    expect((await broker.call('POST', '/tokens/import', { ...body, provider_id: 'nowhere' }, alice)).status).toBe(404);
    expect(await broker.platform.dump()).not.toMatch(/imported-canary|metadata-canary/);
  });

  it('of a whole Slack workspace is shown to its workspace, and revoked by administrators', async () => {
    const slack = '/tokens/workspace/slack';
    expect((await broker.call('GET', `${slack}/exists`)).body).toEqual({ has_token: false });
    const everywhere = { workspace_id: undefined };
    expect(await broker.call('GET', `${slack}/exists`, undefined, everywhere)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('requires workspace specification') },
    });
    expect((await broker.call('DELETE', slack, undefined, { permissions: ['runs:create'] })).status).toBe(403);

    const bot = {
      ok: true,
      access_token: 'xoxb-canary-token',
      token_type: 'bot',
      scope: 'chat:write',
      team: { name: 'Tea' },
    };
    broker.server.overrides.set('/token', (_, res) =>
      res.setHeader('content-type', 'application/json').end(JSON.stringify(bot)),
    );
    const revoked: string[] = [];
    broker.server.overrides.set('/api/auth.revoke', (req, res) => {
      req.on('data', (chunk) => revoked.push(new URLSearchParams(String(chunk)).get('token')!));
      req.on('end', () => res.setHeader('content-type', 'application/json').end('{"ok":true}'));
    });
    try {
      await broker.provider('slack', { provider_type: 'slack', uses_pkce: true });
      const begun = await broker.authenticate('slack', { scopes: ['chat:write', 'users:read'] }, someone());
      const url = new URL(await broker.begin(begun));
      expect(url.searchParams.get('scope')).toBe('chat:write,users:read');
      const state = url.searchParams.get('state')!;
      expect((await broker.callback('slack', { code: 'a-code', state })).status).toBe(200);
      expect((await broker.call('GET', `${slack}/exists`)).body).toEqual({ has_token: true });
      const runner = { ...someone(), permissions: ['runs:create', 'deployments:read'] };
      expect((await broker.authenticate('slack', { scopes: ['chat:write'] }, runner)).status).toBe('pending');
      const agent = { ...runner, deployment: broker.platform.controlPlane.deploy().token };
      expect(await broker.authenticate('slack', { scopes: ['chat:write'] }, agent)).toMatchObject({
        status: 'completed',
        token: 'xoxb-canary-token',
        metadata: { team: { name: 'Tea' } },
      });
      expect((await broker.call('DELETE', slack)).body).toEqual({ message: 'Deleted 1 token.' });
    } finally {
      broker.server.overrides.clear();
    }
    expect(revoked).toEqual(['xoxb-canary-token']);
    expect((await broker.call('GET', `${slack}/exists`)).body).toEqual({ has_token: false });
  });

  it('of a whole Slack workspace stays with a user who may not give it to the workspace here', async () => {
    await broker.provider('foreign', { provider_type: 'slack', uses_pkce: true });
    const mallory = { ...someone(), permissions: ['runs:create', 'deployments:read'] };
    const bot = { ok: true, access_token: 'xoxb-of-another-slack', token_type: 'bot', scope: 'chat:write' };
    broker.server.overrides.set('/token', (_, res) =>
      res.setHeader('content-type', 'application/json').end(JSON.stringify(bot)),
    );
    try {
      const begun = await broker.authenticate('foreign', { scopes: ['chat:write'] }, mallory);
      const state = new URL(await broker.begin(begun)).searchParams.get('state')!;
      expect((await broker.callback('foreign', { code: 'a-code', state })).status).toBe(200);
    } finally {
      broker.server.overrides.clear();
    }
    const ask = (as: object) => broker.authenticate('foreign', { scopes: ['chat:write'] }, as);
    expect(await ask(mallory)).toMatchObject({ status: 'completed', token: 'xoxb-of-another-slack' });
    expect(await ask(someone())).toMatchObject({ status: 'pending' });
    expect((await broker.call('GET', '/tokens/workspace/slack/exists')).body).toEqual({ has_token: false });
  });
});
