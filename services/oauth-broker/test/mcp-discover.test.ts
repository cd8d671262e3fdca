import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { OAuthProvider } from '@runyard/contracts';
import { withDatabaseClient } from '@runyard/test-kit';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { someone, TestBroker } from './support/broker.ts';

/** The answer of an MCP server that is protected by another server. */
let answer: (req: IncomingMessage, res: ServerResponse) => void;
const mcp = createServer((req, res) => answer(req, res));
let mcpUrl: string;
let broker: TestBroker;
beforeAll(async () => {
  await new Promise<void>((resolve) => mcp.listen(0, '127.0.0.1', resolve));
  mcpUrl = `http://127.0.0.1:${(mcp.address() as AddressInfo).port}/mcp`;
  broker = await TestBroker.start([]);
});
afterAll(async () => {
  await broker.close();
  mcp.closeAllConnections();
  mcp.close();
});
afterEach(() => broker.server.overrides.clear());

const discover = (provider_id: string, mcp_server_url = mcpUrl) =>
  broker.call<OAuthProvider & { detail: string }>('POST', '/providers/mcp-discover', {
    provider_id,
    name: 'Tickets',
    mcp_server_url,
  });
const metadata = () => JSON.stringify({ resource: mcpUrl, authorization_servers: [broker.server.url] });

/** Serves the metadata only at the location that the challenge names. */
const byChallenge = (req: IncomingMessage, res: ServerResponse) => {
  if (req.url === '/metadata') return res.setHeader('content-type', 'application/json').end(metadata());
  const where = new URL('/metadata', mcpUrl).href;
  return res.writeHead(401, { 'www-authenticate': `Bearer realm="x", resource_metadata="${where}"` }).end();
};
/** Serves the metadata only at the well-known location. */
const wellKnown = (req: IncomingMessage, res: ServerResponse) => {
  if (req.url === '/.well-known/oauth-protected-resource/mcp') {
    return res.setHeader('content-type', 'application/json').end(metadata());
  }
  return res.writeHead(req.url === '/mcp' ? 401 : 404).end();
};

it.each([
  ['its challenge', 'tickets-1', byChallenge],
  ['the well-known location', 'tickets-2', wellKnown],
])('the provider of an MCP server is found by %s, and the platform becomes its client', async (_, id, server) => {
  answer = server;
  const { status, body } = await discover(id);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      provider_id: id,
      client_id: expect.any(String),
      auth_url: broker.server.authUrl,
      token_url: broker.server.tokenUrl,
      uses_pkce: true,
      code_challenge_method: 'S256',
      mcp_server_url: mcpUrl,
      is_dynamic_client: true,
    },
  });
  const alice = someone();
  const begun = await broker.authenticate(id, {}, alice);
  expect(new URL(await broker.begin(begun)).searchParams.get('resource')).toBe(mcpUrl);
  expect((await broker.callback(id, await broker.consent(begun))).status).toBe(200);
  expect((await broker.authenticate(id, {}, alice)).status).toBe('completed');
});

it('a server that is its own authorization server is discovered as such', async () => {
  const { status, body } = await discover('own', `${broker.server.url}/mcp`);
  expect({ status, body }).toMatchObject({ status: 200, body: { auth_url: broker.server.authUrl } });
});

it('a server whose authorization server has no registration is refused with advice', async () => {
  answer = wellKnown;
  const { url } = broker.server;
  const server = { issuer: url, authorization_endpoint: `${url}/auth`, token_endpoint: `${url}/token` };
  broker.server.overrides.set('/.well-known/oauth-authorization-server', (_, res) =>
    res.setHeader('content-type', 'application/json').end(JSON.stringify(server)),
  );
  const { status, body } = await discover('closed');
  expect({ status, detail: body.detail }).toEqual({ status: 400, detail: expect.stringContaining('client id') });
});

it.each([
  ['garbage', (res: ServerResponse) => res.setHeader('content-type', 'application/json').end('{{{')],
  [
    'an authorization server in a private network',
    (res: ServerResponse) =>
      res
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ resource: mcpUrl, authorization_servers: ['http://10.1.2.3'] })),
  ],
  [
    'another server',
    (res: ServerResponse) =>
      res.setHeader('content-type', 'application/json').end(
        JSON.stringify({
          resource: 'https://elsewhere.example/mcp',
          authorization_servers: ['https://elsewhere.example'],
        }),
      ),
  ],
])('a server whose metadata name %s becomes no provider', async (_, reply) => {
  answer = (req, res) =>
    req.url === '/.well-known/oauth-protected-resource/mcp' ? reply(res) : res.writeHead(404).end();
  const { status } = await discover('bad');
  expect([400, 502]).toContain(status);
  expect((await broker.call('GET', '/providers/bad')).status).toBe(404);
});

it('a platform whose client secret has expired is registered again, and its users have to consent again', async () => {
  answer = wellKnown;
  let lifetime = 30;
  const registered: string[] = [];
  broker.server.overrides.set('/reg', async (req, res) => {
    const { redirect_uris } = (await json(req)) as { redirect_uris: string[] };
    const client_id = `client-${registered.push(redirect_uris[0]!)}`;
    const client_secret_expires_at = Math.floor(Date.now() / 1000) + lifetime;
    res.writeHead(201, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ client_id, client_secret: 'for-a-while', client_secret_expires_at, redirect_uris }));
  });
  expect((await discover('lapsing')).body).toMatchObject({ client_id: 'client-1' });
  const alice = someone();
  const imported = { provider_id: 'lapsing', access_token: 'old', refresh_token: 'of-client-1', expires_in_seconds: 1 };
  await broker.call('POST', '/tokens/import', imported, alice);
  await withDatabaseClient(broker.platform.database.url, async (client) => {
    await client.query("UPDATE oauth_token SET expires_at = now() - interval '1 hour' WHERE owner = $1", [alice.sub]);
    await client.query("UPDATE oauth_provider SET client_secret_expires_at = now() WHERE provider_id = 'lapsing'");
  });
  lifetime = 30 * 86_400;
  const begun = await broker.authenticate('lapsing', {}, alice);
  expect(begun.status).toBe('token_expired');
  expect(new URL(await broker.begin(begun)).searchParams.get('client_id')).toBe('client-2');
  await broker.authenticate('lapsing', {}, someone());
  expect(registered).toEqual(Array(2).fill('https://agents.example.com/v2/auth/callback/lapsing'));
  expect((await broker.call('GET', '/providers/lapsing')).body).toMatchObject({ client_id: 'client-2' });
  expect(await broker.platform.dump()).not.toContain('for-a-while');
});

/** Registers every client with such a secret. The returned function counts the registrations. */
function registering(secret: () => object): () => number {
  let registered = 0;
  broker.server.overrides.set('/reg', (_, res) => {
    registered += 1;
    const client = { client_id: `client-${registered}`, ...secret() };
    res.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(client));
  });
  return () => registered;
}

it('a flow that began before a new registration ends with the client it began with', async () => {
  answer = wellKnown;
  await discover('on-the-way');
  const [alice, bob] = [someone(), someone()];
  const begun = await broker.authenticate('on-the-way', {}, alice);
  await withDatabaseClient(broker.platform.database.url, (client) =>
    client.query("UPDATE oauth_provider SET client_secret_expires_at = now() WHERE provider_id = 'on-the-way'"),
  );
  const later = await broker.authenticate('on-the-way', {}, bob);
  const addresses = [await broker.begin(begun), await broker.begin(later)];
  const clients = addresses.map((address) => new URL(address).searchParams.get('client_id'));
  expect(new Set(clients).size).toBe(2);
  for (const [way, as] of [
    [begun, alice],
    [later, bob],
  ] as const) {
    expect((await broker.callback('on-the-way', await broker.consent(way))).status).toBe(200);
    expect((await broker.authenticate('on-the-way', {}, as)).status).toBe('completed');
  }
});

it('a secret of half an hour is used for half of it, however many ask meanwhile', async () => {
  answer = wellKnown;
  const registered = registering(() => ({
    client_secret: 'a-secret',
    client_secret_expires_at: Math.floor(Date.now() / 1000) + 1_800,
  }));
  await discover('short');
  for (const each of [someone(), someone()]) await broker.authenticate('short', {}, each);
  expect(registered()).toBe(1);
  await withDatabaseClient(broker.platform.database.url, (client) =>
    client.query(`UPDATE oauth_provider SET client_registered_at = client_registered_at - interval '16 minutes',
      client_secret_expires_at = client_secret_expires_at - interval '16 minutes' WHERE provider_id = 'short'`),
  );
  for (const each of [someone(), someone()]) await broker.authenticate('short', {}, each);
  expect(registered()).toBe(2);
});

it.each<[string, object]>([
  ['ends at 0', { client_secret: 'a-secret', client_secret_expires_at: 0 }],
  ['ends in a hundred thousand years', { client_secret: 'a-secret', client_secret_expires_at: 4e12 }],
  ['does not exist', { client_secret_expires_at: -1 }],
])('a secret that %s is not replaced', async (name, secret) => {
  answer = wellKnown;
  const registered = registering(() => secret);
  const id = name.replaceAll(' ', '-');
  expect((await discover(id)).status).toBe(200);
  await broker.authenticate(id);
  expect(registered()).toBe(1);
});

it('a taken name registers no client', async () => {
  answer = wellKnown;
  await discover('once');
  let registered = false;
  broker.server.overrides.set('/reg', (_, res) => {
    registered = true;
    res.writeHead(500).end();
  });
  expect((await discover('once')).status).toBe(409);
  expect(registered).toBe(false);
});
