import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OutboundClient, OutboundPolicy } from '@runyard/outbound';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isGrantRefused } from './errors.ts';
import { ProviderClient, type ProviderSettings } from './provider-client.ts';
import { ProviderRequests } from './provider-requests.ts';

let answer: unknown;
let asked: { url: string; authorization: string | undefined; body: URLSearchParams }[] = [];
const server = createServer(async (req: IncomingMessage, res: ServerResponse) => {
  let body = '';
  for await (const chunk of req) body += chunk;
  asked.push({ url: req.url!, authorization: req.headers.authorization, body: new URLSearchParams(body) });
  res.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
});
const outbound = new OutboundClient(new OutboundPolicy({ subject: 'Provider', loopback: true }));
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await outbound.close();
  server.close();
});
beforeEach(() => {
  asked = [];
});

function client(changes: Partial<ProviderSettings> = {}): ProviderClient {
  const settings: ProviderSettings = {
    providerId: 'it',
    clientId: 'me',
    clientSecret: 'a secret',
    authUrl: `${url}/authorize?audience=x`,
    tokenUrl: `${url}/token`,
    authMethod: 'client_secret_post',
    codeChallengeMethod: null,
    type: null,
    resource: null,
    server: null,
    ...changes,
  };
  return new ProviderClient(settings, new ProviderRequests(outbound, 5_000));
}
const begin = { state: 's', redirectUri: 'https://me.example/back', scopes: ['a', 'b'], codeVerifier: null };
const code = { parameters: { code: 'c' }, redirectUri: 'https://me.example/back', codeVerifier: null };
const scopeOf = async (type: ProviderSettings['type']) =>
  new URL(await client({ type }).authorizationUrl(begin)).searchParams.get('scope');

describe('the authorization URL', () => {
  it("keeps the parameters that the provider's URL has", async () => {
    const parameters = new URL(await client().authorizationUrl(begin)).searchParams;
    expect(Object.fromEntries(parameters)).toEqual({
      audience: 'x',
      response_type: 'code',
      client_id: 'me',
      redirect_uri: 'https://me.example/back',
      scope: 'a b',
      state: 's',
    });
  });

  it("requests what a refresh token needs, in the provider's form", async () => {
    expect(await scopeOf('microsoft')).toBe('a b offline_access');
    expect(await scopeOf('salesforce')).toBe('a b refresh_token');
    expect(await scopeOf('slack')).toBe('a,b');
  });

  it('contains the verifier itself only for a provider that wants it plain', async () => {
    const request = { ...begin, codeVerifier: 'v'.repeat(43) };
    expect(await client().authorizationUrl(request)).not.toContain(request.codeVerifier);
    const knowing = { issuer: url, code_challenge_methods_supported: ['plain', 'S256'] };
    const better = client({ codeChallengeMethod: 'plain', server: knowing });
    expect(await better.authorizationUrl(request)).not.toContain(request.codeVerifier);
    const plain = new URL(await client({ codeChallengeMethod: 'plain' }).authorizationUrl(request)).searchParams;
    expect([plain.get('code_challenge'), plain.get('code_challenge_method')]).toEqual([request.codeVerifier, 'plain']);
  });
});

describe('a code', () => {
  it.each([
    ['client_secret_post', undefined, 'a secret'],
    ['client_secret_basic', `Basic ${Buffer.from('me:a+secret').toString('base64')}`, null],
    ['none', undefined, null],
  ] as const)('is exchanged with %s', async (authMethod, authorization, secret) => {
    answer = { access_token: 't', token_type: 'Bearer', expires_in: 60, scope: 'a,b' };
    const grant = await client({ authMethod, resource: 'https://mcp.example/' }).exchange(code);
    expect(grant).toMatchObject({ accessToken: 't', scopes: ['a', 'b'], accountLabel: null });
    expect(asked).toMatchObject([{ url: '/token', authorization }]);
    expect(asked[0]!.body.get('client_secret')).toBe(secret);
    expect(asked[0]!.body.get('resource')).toBe('https://mcp.example/');
  });

  it('brings a token whose lifetime fits a date, whatever the provider sends', async () => {
    answer = { access_token: 't', token_type: 'Bearer', expires_in: 1e18 };
    const { expiresAt } = await client().exchange(code);
    expect(expiresAt!.getTime()).toBeLessThan(Date.now() + 3.2e12);
  });

  it('that GitHub refuses is an error, although GitHub answers 200', async () => {
    answer = { error: 'bad_verification_code', error_description: 'The code passed is incorrect or expired.' };
    const error = await client()
      .exchange(code)
      .catch((reason: unknown) => reason);
    expect(isGrantRefused(error)).toBe(true);
    expect((error as Error).message).toBe(
      "The OAuth provider 'it' refused: bad_verification_code: The code passed is incorrect or expired.",
    );
  });

  it("brings Salesforce's address of the API, and a lifetime of two hours", async () => {
    answer = {
      access_token: 't',
      token_type: 'Bearer',
      instance_url: 'https://x.my.salesforce.com',
      id: 'https://login/id',
    };
    const { metadata, expiresAt } = await client({ type: 'salesforce' }).exchange(code);
    expect(metadata).toEqual({ instance_url: 'https://x.my.salesforce.com', id: 'https://login/id' });
    expect(expiresAt!.getTime() - Date.now()).toBeGreaterThan(7_100_000);
  });

  it("brings a person's token from Slack, and keeps it out of the metadata", async () => {
    const authed_user = { id: 'U1', scope: 'a', access_token: 'xoxp-1', token_type: 'user', refresh_token: 'xoxe-1' };
    answer = { ok: true, authed_user, team: { id: 'T1', name: 'Tea' } };
    const grant = await client({ type: 'slack' }).exchange(code);
    expect(grant).toMatchObject({
      accessToken: 'xoxp-1',
      refreshToken: 'xoxe-1',
      accountLabel: 'Tea',
      isOfWorkspace: false,
    });
    expect(JSON.stringify(grant.metadata)).not.toMatch(/xox/);
    answer = { ok: true, access_token: 'xoxb-1', token_type: 'bot', scope: 'a,b', team: { id: 'T1' } };
    expect(await client({ type: 'slack' }).exchange(code)).toMatchObject({
      accessToken: 'xoxb-1',
      isOfWorkspace: true,
    });
  });

  it('that Slack refuses is an error', async () => {
    answer = { ok: false, error: 'invalid_code' };
    const error = await client({ type: 'slack' })
      .exchange(code)
      .catch((reason: unknown) => reason);
    expect(isGrantRefused(error)).toBe(true);
  });
});

describe('a revocation', () => {
  it("goes to the provider's endpoint only", async () => {
    expect(await client().revoke('t')).toBe(false);
    expect(asked).toEqual([]);
    const server = { issuer: url, revocation_endpoint: `${url}/revoke` };
    expect(await client({ server }).revoke('t')).toBe(true);
    expect(await client({ type: 'salesforce' }).revoke('t')).toBe(true);
    expect(asked.map((request) => [request.url, request.body.get('token')])).toEqual([
      ['/revoke', 't'],
      ['/services/oauth2/revoke', 't'],
    ]);
  });

  it('counts as done for a token that Slack does not know, and as undone when Slack limits the rate', async () => {
    const slack = client({ type: 'slack' });
    answer = { ok: false, error: 'token_revoked' };
    expect(await slack.revoke('t')).toBe(true);
    answer = { ok: false, error: 'ratelimited' };
    await expect(slack.revoke('t')).rejects.toThrow("The OAuth provider 'it' refused: ratelimited");
  });
});
