import { randomUUID } from 'node:crypto';
import type { AgentConnection, OAuthProvider, OAuthTokenSummary, WaitResponse } from '@runyard/contracts';
import { freePort, waitFor, withDatabaseClient } from '@runyard/test-kit';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { SECRET, someone, TestBroker } from './support/broker.ts';
import { countFormerTables, FormerControlPlane, NO_ROWS } from './support/former-control-plane.ts';
import { TestPlatform } from './support/platform.ts';

let former: FormerControlPlane | undefined;
afterEach(async () => {
  await former?.close();
  former = undefined;
});

async function startFormer(): Promise<FormerControlPlane> {
  former = await FormerControlPlane.start();
  return former;
}

const countStored = (platform: TestPlatform) => countFormerTables(platform.database.url);

it('what an older control-plane kept of the broker is moved once, with its secrets, and works on as before', async () => {
  const rows = await startFormer();
  const [alice, bob] = [someone(), someone()];
  const broker = await TestBroker.open(['crm'], {}, { controlPlaneUrl: rows.url });
  onTestFinished(() => broker.close());
  const { authUrl: auth_url, tokenUrl: token_url } = broker.server;
  const provider = await rows.addProvider({ provider_id: 'crm', auth_url, token_url }, SECRET);
  const origin = new URL(token_url).origin;
  const secrets = { accessToken: 'canary-of-alice', refreshToken: 'canary-refresh', origin };
  // The first release kept the metadata in a column.
  const token = await rows.addToken(provider, alice.sub!, secrets, { metadata: { team: 'tea' } });
  const ofAgent = { accessToken: 'canary-of-agent', refreshToken: null, origin, metadata: {} };
  await rows.addConnection(provider, await rows.addToken(provider, null, ofAgent), 'sales', bob.sub!);
  const redirectUri = 'https://agents.example.com/v2/auth/callback/crm';
  const flow = await rows.addFlow(provider, bob.sub!, redirectUri, 'v'.repeat(43));

  await broker.platform.startService();
  expect(await rows.countRows()).toEqual(NO_ROWS);
  expect(await countStored(broker.platform)).toEqual({
    oauth_agent_connection: 1,
    oauth_flow: 1,
    oauth_provider: 1,
    oauth_token: 2,
  });
  for (const text of [await broker.platform.dump(), broker.platform.service.output(), rows.output()])
    expect(text).not.toMatch(/canary|vvvvvvvv/);

  expect(await broker.authenticate('crm', {}, alice)).toMatchObject({
    status: 'completed',
    token: 'canary-of-alice',
    metadata: { team: 'tea' },
  });
  const list = await broker.call<OAuthTokenSummary[]>('GET', '/tokens', undefined, alice);
  expect(list.body.map(({ id }) => id)).toEqual([token]);
  const connections = await broker.call<{ data: AgentConnection[] }>('GET', '/agents/sales/connections');
  expect(connections.body.data).toMatchObject([{ agent_id: 'sales', created_by: bob.sub }]);
  // An authorization that was asked for before the update is finished after it, with the secret of the provider.
  const url = `https://agents.example.com/v2/auth/start/${flow}`;
  const page = await broker.callback('crm', await broker.consent({ status: 'pending', url }));
  expect(page.status).toBe(200);
  const { body } = await broker.call<WaitResponse>('GET', `/wait/${flow}`, undefined, bob);
  expect(await broker.server.isValidToken(body.token!)).toBe(true);

  await broker.call('DELETE', '/providers/crm');
  await rows.stop();
  await broker.platform.stopService();
  // It never asks again: nothing that was deleted meanwhile comes back.
  await broker.platform.startService();
  expect((await broker.call<OAuthProvider[]>('GET', '/providers')).body).toEqual([]);
});

it('rows of any content are moved, in pages; what cannot be decrypted stays where it is', async () => {
  const rows = await startFormer();
  const [odd, lost] = ['odd', 'lost'];
  const provider = await rows.addProvider({ provider_id: odd, name: "'; DROP TABLE oauth_token; -- \u{1F511}" }, null);
  const alice = someone();
  const secrets = { accessToken: 'a', refreshToken: null, origin: 'https://provider.example.com', metadata: {} };
  for (let count = 0; count < 60; count++) {
    const token = await rows.addToken(provider, alice.sub!, secrets, { subject: `user ${count}`, scopes: null });
    await rows.addConnection(provider, token, `agent/${count}?`, alice.sub!);
  }
  await rows.addProvider(
    { provider_id: 'unused', server_metadata: { issuer: 'x' }, client_secret_expires_at: null },
    's',
  );
  // The secret of this provider was encrypted with a key that is not configured any more; so was a token of the other.
  const unreadable = await rows.addProvider({ provider_id: lost }, 'a-secret');
  await rows.addToken(unreadable, alice.sub!, secrets);
  await rows.query(`UPDATE oauth_provider SET sealed_client_secret = 's1.00000000.AAAA' WHERE provider_id = 'lost'`);
  const torn = await rows.addToken(provider, alice.sub!, secrets);
  await rows.query(`UPDATE oauth_token SET sealed = 'no ciphertext' WHERE id = '${torn}'`);

  const platform = await TestPlatform.start({}, { controlPlaneUrl: rows.url });
  onTestFinished(() => platform.close());
  const moved = { oauth_agent_connection: 60, oauth_flow: 0, oauth_provider: 2, oauth_token: 60 };
  expect(await countStored(platform)).toEqual(moved);
  const left = { oauth_agent_connection: 0, oauth_flow: 0, oauth_provider: 2, oauth_token: 2 };
  expect(await rows.countRows()).toEqual(left);
  expect(platform.service.output()).toContain('cannot be decrypted');

  // Its provider stays for the token that does, and is not moved again.
  await platform.stopService();
  await rows.stop();
  await platform.startService();
  expect(await countStored(platform)).toEqual(moved);
});

it('two processes that start at once store each row once, and serve when both know that it is the last', async () => {
  const rows = await startFormer();
  const provider = await rows.addProvider({ provider_id: 'shared' }, 'a-secret');
  const secrets = { accessToken: 'a', refreshToken: null, origin: 'https://provider.example.com', metadata: {} };
  for (let count = 0; count < 120; count++) await rows.addToken(provider, randomUUID(), secrets);
  const platform = await TestPlatform.open({}, { controlPlaneUrl: rows.url });
  onTestFinished(() => platform.close());
  const others = await Promise.all([platform.startService(), platform.startService(), platform.startService()]);
  onTestFinished(async () => void (await Promise.all(others.map((service) => service.stop()))));
  expect(await countStored(platform)).toMatchObject({ oauth_provider: 1, oauth_token: 120 });
  expect(await rows.countRows()).toEqual(NO_ROWS);
});

it('nothing is served before the rows are here: control-plane is awaited', async () => {
  const PORT = String(await freePort());
  const platform = await TestPlatform.open({ PORT }, { hasOwnProcess: true });
  onTestFinished(() => platform.close());
  platform.controlPlane.isUnwell = true;
  const starting = platform.startService();
  const ask = (path: string) => fetch(`http://127.0.0.1:${PORT}${path}`).catch(() => null);
  await waitFor(async () => (await ask('/ok'))?.ok, { what: 'the early listener' });
  expect((await ask('/v2/auth/providers'))?.status).toBe(503);
  expect((await ask('/ok?check_db=1'))?.status).toBe(503);
  platform.controlPlane.isUnwell = false;
  await starting;
  expect((await ask('/v2/auth/providers'))?.status).toBe(401);
});

it('a provider that was made anew under its name stays at control-plane with its tokens, and stops nothing', async () => {
  const rows = await startFormer();
  const broker = await TestBroker.open(['crm'], {}, { controlPlaneUrl: rows.url });
  onTestFinished(() => broker.close());
  await broker.platform.startService();
  await broker.provider('crm');
  await broker.platform.stopService();
  await withDatabaseClient(broker.platform.database.url, (client) => client.query('TRUNCATE former_rows_moved'));
  const provider = await rows.addProvider({ provider_id: 'crm' }, SECRET);
  const secrets = { accessToken: 'a', refreshToken: null, origin: 'https://provider.example.com', metadata: {} };
  await rows.addConnection(provider, await rows.addToken(provider, someone().sub!, secrets), 'sales', someone().sub!);
  const other = await rows.addProvider({ provider_id: 'other' }, SECRET);
  await rows.addToken(other, someone().sub!, secrets);
  await broker.platform.startService();
  const left = { oauth_agent_connection: 1, oauth_flow: 0, oauth_provider: 1, oauth_token: 1 };
  expect(await rows.countRows()).toEqual(left);
  expect(await countStored(broker.platform)).toMatchObject({ oauth_provider: 2, oauth_token: 1 });
  expect(broker.platform.service.output()).toContain('their provider was made anew');
});
