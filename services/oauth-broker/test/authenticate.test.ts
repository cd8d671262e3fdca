import { IdentityRemoved, type OAuthTokenSummary, type WaitResponse } from '@runyard/contracts';
import { createEventBus, makeEvent } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { ORGANIZATION, OTHER_WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PERMISSIONS, someone, TestBroker } from './support/broker.ts';

let broker: TestBroker;
beforeAll(async () => {
  broker = await TestBroker.start(['plain']);
  await broker.provider('plain');
});
afterAll(() => broker.close());

describe('a token of a provider', () => {
  it("requires the person's consent, and is returned after it", async () => {
    const alice = someone();
    const begun = await broker.authenticate('plain', { user_id: 'a@b.c' }, alice);
    expect(begun).toMatchObject({ status: 'pending', user_id: 'a@b.c', auth_id: expect.any(String) });
    expect(await broker.call('GET', `/wait/${begun.auth_id}?timeout=0`, undefined, alice)).toMatchObject({
      status: 200,
      body: { status: 'pending' },
    });
    const page = await broker.callback('plain', await broker.consent(begun));
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('Your account is connected');
    const waited = await broker.call<WaitResponse>('GET', `/wait/${begun.auth_id}`, undefined, alice);
    expect(waited.body.status).toBe('completed');
    expect(await broker.server.isValidToken(waited.body.token!)).toBe(true);
    const again = await broker.authenticate('plain', { user_id: 'a@b.c' }, alice);
    expect(again).toMatchObject({ status: 'completed', token: waited.body.token });
    expect(await broker.platform.dump()).not.toContain(waited.body.token);
    expect(broker.platform.service.output()).not.toContain(waited.body.token);
  });

  it('wakes the request that waits for it at once, and nobody else gets it', async () => {
    const alice = someone();
    const begun = await broker.authenticate('plain', {}, alice);
    const wait = `/wait/${begun.auth_id}?timeout=300`;
    const waiting = broker.call<WaitResponse>('GET', wait, undefined, alice);
    expect((await broker.call('GET', wait, undefined, someone())).body).toEqual({ status: 'not_found' });
    await broker.callback('plain', await broker.consent(begun));
    expect((await waiting).body).toMatchObject({ status: 'completed', token: expect.any(String) });
  });

  it.each(['nothing', '0192f7a0-0000-7000-8000-0000000000ff'])('is not awaited under the id %s', async (id) => {
    expect(await broker.call('GET', `/wait/${id}`)).toEqual({ status: 200, body: { status: 'not_found' } });
  });

  it('is awaited no longer than requested', async () => {
    const begun = await broker.authenticate('plain', {}, someone());
    const alice = someone();
    expect((await broker.call('GET', `/wait/${begun.auth_id}?timeout=0.1`, undefined, alice)).body).toEqual({
      status: 'not_found',
    });
    const own = await broker.authenticate('plain', {}, alice);
    expect((await broker.call('GET', `/wait/${own.auth_id}?timeout=0.1`, undefined, alice)).body).toEqual({
      status: 'timeout',
    });
  });

  it('is bound to its code by PKCE, where the provider supports it', async () => {
    const begun = new URL(await broker.begin(await broker.authenticate('plain', {}, someone())));
    expect(begun.searchParams.get('code_challenge_method')).toBe('S256');
    expect(begun.searchParams.get('redirect_uri')).toBe('https://agents.example.com/v2/auth/callback/plain');
  });

  it('is refreshed a minute before it expires', async () => {
    const alice = someone();
    broker.server.lifetimeSeconds = 50;
    const first = await broker.connect('plain', {}, alice);
    broker.server.lifetimeSeconds = 3600;
    const second = (await broker.authenticate('plain', {}, alice)).token;
    expect(second).not.toBe(first);
    expect(await broker.server.isValidToken(second!)).toBe(true);
    expect((await broker.authenticate('plain', {}, alice)).token).toBe(second);
  });

  it('is the same for many concurrent requests, which refresh it once', async () => {
    const alice = someone();
    broker.server.lifetimeSeconds = 50;
    await broker.connect('plain', {}, alice);
    broker.server.lifetimeSeconds = 3600;
    const before = broker.server.tokenRequests.length;
    const tokens = await Promise.all(Array.from({ length: 8 }, () => broker.authenticate('plain', {}, alice)));
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(1);
    expect(broker.server.tokenRequests.slice(before)).toEqual(['refresh_token']);
  });

  it('is requested again with its old scopes when more are needed', async () => {
    const alice = someone();
    await broker.connect('plain', { scopes: ['repo'] }, alice);
    const more = await broker.authenticate('plain', { scopes: ['mail'] }, alice);
    expect(more.status).toBe('pending');
    expect(new URL(await broker.begin(more)).searchParams.get('scope')).toBe('mail repo');
    await broker.callback('plain', await broker.consent(more));
    expect(await broker.authenticate('plain', { scopes: ['repo', 'mail'] }, alice)).toMatchObject({
      status: 'completed',
    });
    const { body } = await broker.call<OAuthTokenSummary[]>('GET', '/tokens', undefined, alice);
    expect(body.map(({ scopes }) => scopes.sort())).toEqual([['mail', 'repo']]);
  });

  it('is another one when a new one is requested, and either can be named', async () => {
    const alice = someone();
    const first = await broker.connect('plain', {}, alice);
    const second = await broker.connect('plain', { force_new: true, is_default: false }, alice);
    expect((await broker.authenticate('plain', {}, alice)).token).toBe(first);
    const { body } = await broker.call<OAuthTokenSummary[]>('GET', '/tokens?provider_id=plain', undefined, alice);
    const other = body.find(({ is_default }) => !is_default)!;
    expect((await broker.authenticate('plain', { token_id: other.id }, alice)).token).toBe(second);
    const foreign = { provider: 'plain', scopes: [], token_id: other.id };
    expect((await broker.call('POST', '/authenticate', foreign, someone())).status).toBe(404);
  });

  it('of one user is not another one of the same caller', async () => {
    const app = someone();
    await broker.connect('plain', { user_id: 'alice' }, app);
    expect((await broker.authenticate('plain', { user_id: 'bob' }, app)).status).toBe('pending');
    expect((await broker.authenticate('plain', {}, app)).status).toBe('pending');
  });

  it('of another user of the organization is not returned', async () => {
    const alice = someone();
    await broker.connect('plain', {}, alice);
    const asked = { ls_user_id: alice.sub, agent_id: 'mail-agent' };
    expect(await broker.authenticate('plain', asked, someone())).toEqual({
      status: 'connection_required',
      user_id: alice.sub,
    });
  });

  it('of an unknown provider, or of public applications, is refused', async () => {
    const unknown = await broker.call('POST', '/authenticate', { provider: 'nowhere', scopes: [] });
    expect(unknown).toMatchObject({ status: 404, body: { detail: "OAuth provider 'nowhere' not found." } });
    const hosted = { provider: 'plain', scopes: [], use_agent_builder_public_oauth: true };
    expect((await broker.call('POST', '/authenticate', hosted)).status).toBe(400);
  });
});

describe('an agent', () => {
  /** A deployment that was made for no agent. */
  let deployment: { id: string; token: string };
  beforeAll(async () => {
    deployment = broker.platform.controlPlane.deploy();
  });
  const user = () => ({ ...someone(), permissions: ['runs:create', 'deployments:read'] });

  async function tokenOf(as: ReturnType<typeof user>): Promise<string> {
    await broker.connect('plain', {}, as);
    return (await broker.call<OAuthTokenSummary[]>('GET', '/tokens', undefined, as)).body[0]!.id;
  }

  it('uses the tokens that its users connected, for everybody who runs it in the workspace', async () => {
    const [alice, bob] = [user(), user()];
    const oauth_token_id = await tokenOf(alice);
    const made = await broker.call('POST', '/agents/mail/connections', { oauth_token_id }, alice);
    expect(made).toMatchObject({
      status: 201,
      body: { agent_id: 'mail', oauth_token_id, provider_id: 'plain', created_by: alice.sub },
    });
    const { token } = await broker.authenticate('plain', {}, alice);
    const asked = { agent_id: 'mail', ls_user_id: alice.sub };
    const byAgent = { ...bob, deployment: deployment.token };
    const used = { status: 'completed', token };
    expect(await broker.authenticate('plain', { agent_id: 'mail' }, byAgent)).toMatchObject(used);
    expect(await broker.authenticate('plain', asked, byAgent)).toMatchObject(used);
    expect((await broker.authenticate('plain', { agent_id: 'other' }, byAgent)).status).toBe('pending');
    const reader = { ...byAgent, permissions: ['deployments:read'] };
    expect((await broker.authenticate('plain', { agent_id: 'mail' }, reader)).status).toBe('pending');

    const connection = `/agents/mail/connections/${made.body.id}`;
    expect((await broker.call('DELETE', connection, undefined, bob)).status).toBe(403);
    expect((await broker.call('DELETE', connection, undefined, alice)).status).toBe(204);
    expect((await broker.call('DELETE', connection, undefined, alice)).status).toBe(404);
    expect((await broker.authenticate('plain', { agent_id: 'mail' }, byAgent)).status).toBe('pending');
    expect((await broker.authenticate('plain', {}, alice)).status).toBe('completed');
  });

  it('gets a colleague’s token for its code alone: whoever shows only a key gets their own tokens', async () => {
    const [alice, bob] = [user(), user()];
    const oauth_token_id = await tokenOf(alice);
    await broker.call('POST', '/agents/shown/connections', { oauth_token_id }, alice);
    const asked = { agent_id: 'shown', ls_user_id: alice.sub };
    for (const as of [bob, { ...bob, permissions: PERMISSIONS }]) {
      expect((await broker.authenticate('plain', { agent_id: 'shown' }, as)).status).toBe('pending');
      expect((await broker.authenticate('plain', asked, as)).status).toBe('connection_required');
      const named = { agent_id: 'shown', token_id: oauth_token_id };
      expect((await broker.ask('plain', named, as)).status).toBe(404);
    }
    expect((await broker.authenticate('plain', { agent_id: 'shown' }, alice)).status).toBe('completed');
  });

  it('is proven by the token of an existing deployment in the workspace of the key', async () => {
    const bob = user();
    const { id, token } = broker.platform.controlPlane.deploy();
    const ask = (changes: object) => broker.ask('plain', {}, { ...bob, deployment: token, ...changes });
    expect((await ask({})).status).toBe(200);
    const refusals = [
      await ask({ workspace_id: OTHER_WORKSPACE }),
      await ask({ workspace_id: undefined }),
      await ask({ deployment: token.replace(id, deployment.id) }),
      await ask({ deployment: 'rdt_' }),
    ];
    broker.platform.controlPlane.delete(id);
    refusals.push(await ask({}));
    const refusal = { status: 403, body: { detail: 'The deployment token is not valid in this workspace' } };
    expect(refusals).toEqual(Array.from({ length: 5 }, () => refusal));
  });

  it('is the deployment of its own id, and those that were made for its name where there are some', async () => {
    const [alice, bob] = [user(), user()];
    const oauth_token_id = await tokenOf(alice);
    const { controlPlane } = broker.platform;
    const [production, staging] = [controlPlane.deploy('billing'), controlPlane.deploy('billing')];
    const connect = (name: string) => broker.call('POST', `/agents/${name}/connections`, { oauth_token_id }, alice);
    /** Returns which of the deployments get the token: the two, and one that was made for no agent. */
    const served = async (agent_id?: string) => {
      const changes = { ls_user_id: alice.sub, ...(agent_id !== undefined && { agent_id }) };
      const asks = [production, staging, deployment].map(({ token }) =>
        broker.authenticate('plain', changes, { ...bob, deployment: token }),
      );
      return (await Promise.all(asks)).map(({ status }) => status === 'completed');
    };
    await connect('billing');
    expect(await served('billing')).toEqual([true, true, false]);
    expect(await served()).toEqual([false, false, false]);
    await connect(staging.id);
    for (const name of [staging.id, undefined, 'an-assistant'])
      expect(await served(name)).toEqual([false, true, false]);
    await connect('an-assistant');
    expect(await served('an-assistant')).toEqual([true, true, true]);
  });

  it('whose deployment is deleted leaves nothing that was or will be connected to it to other deployments', async () => {
    const [alice, bob] = [user(), user()];
    const oauth_token_id = await tokenOf(alice);
    const { controlPlane } = broker.platform;
    const [first, last] = [controlPlane.deploy('payroll'), controlPlane.deploy('payroll')];
    for (const name of [first.id, first.id.toUpperCase(), 'payroll'])
      await broker.call('POST', `/agents/${name}/connections`, { oauth_token_id }, alice);
    await broker.call('POST', `/agents/${first.id}/providers/plain/tokens`, { access_token: 'of-the-deleted' });
    /** Returns whether a deployment gets a token by a name. */
    const isServed = async (name: string, { token } = deployment) =>
      'token' in (await broker.authenticate('plain', { agent_id: name }, { ...bob, deployment: token }));
    controlPlane.delete(first.id);
    for (const name of [first.id, first.id.toUpperCase()]) {
      expect(await isServed(name)).toBe(false);
      // The request of someone who had not noticed, or whose request was under way.
      const late = await broker.call('POST', `/agents/${name}/connections`, { oauth_token_id }, alice);
      expect([late.status, await isServed(name)]).toEqual([201, false]);
    }
    expect([await isServed('payroll', last), await isServed('payroll')]).toEqual([true, false]);
    controlPlane.delete(last.id);
    expect(await isServed('payroll')).toBe(false);
    expect(await isServed('payroll', controlPlane.deploy('payroll'))).toBe(false);
    expect((await broker.authenticate('plain', {}, alice)).status).toBe('completed');
  });

  it('is shown with the connections of others only to who may take them away', async () => {
    const [alice, bob] = [user(), user()];
    const path = '/agents/listed/connections';
    const { body } = await broker.call('POST', path, { oauth_token_id: await tokenOf(alice) }, alice);
    const listed = async (as: object) => (await broker.call('GET', path, undefined, as)).body;
    expect(await listed(alice)).toEqual({ data: [body] });
    expect(await listed(bob)).toEqual({ data: [] });
    const editor = { ...bob, permissions: ['deployments:read', 'deployments:update'] };
    expect(await listed(editor)).toEqual({ data: [body] });
  });

  it("is connected only to the caller's own tokens, one of each provider", async () => {
    const [alice, bob] = [user(), user()];
    const oauth_token_id = await tokenOf(alice);
    const refused = await broker.call('POST', '/agents/one/connections', { oauth_token_id }, bob);
    expect(refused.status).toBe(404);
    for (let time = 0; time < 2; time++) {
      await broker.call('POST', '/agents/one/connections', { oauth_token_id }, alice);
    }
    const { body } = await broker.call<{ data: unknown[] }>('GET', '/agents/one/connections', undefined, alice);
    expect(body.data).toHaveLength(1);
  });

  it('is connected once, and gets a token once, by a client that repeats its request with its key', async () => {
    const alice = user();
    const as = { permissions: [...alice.permissions, 'deployments:update'], sub: alice.sub };
    const oauth_token_id = await tokenOf(alice);
    const token = { access_token: 'an-agent-token-asked-for-twice' };
    for (const [path, body] of [
      ['/agents/twice/connections', { oauth_token_id }],
      ['/agents/twice/providers/plain/tokens', token],
    ] as const) {
      const headers = { ...(await broker.platform.callers.headers(as)), 'idempotency-key': path };
      const ask = () => broker.platform.call('POST', `/v2/auth${path}`, { body, headers });
      const first = await ask();
      expect(first.status).toBe(201);
      expect(await ask()).toEqual(first);
    }
    expect(await broker.platform.dump()).not.toContain(token.access_token);
  });

  it('gets no token of a removed person, from the moment that org-access knows', async () => {
    const [alice, bob] = [user(), user()];
    await broker.call('POST', '/agents/left/connections', { oauth_token_id: await tokenOf(alice) }, alice);
    const asked = { agent_id: 'left', ls_user_id: alice.sub };
    const byAgent = { ...bob, deployment: deployment.token };
    expect((await broker.authenticate('plain', asked, byAgent)).status).toBe('completed');
    const { callers } = broker.platform;
    callers.isUnwell = true;
    expect((await broker.ask('plain', asked, byAgent)).status).toBe(503);
    callers.isUnwell = false;
    callers.removed.add(alice.sub!);
    expect(await broker.authenticate('plain', asked, byAgent)).toMatchObject({ status: 'connection_required' });
    expect((await broker.authenticate('plain', { agent_id: 'left' }, byAgent)).status).toBe('pending');
  });

  it('leaves no token of a removed person at the provider or here, and ignores removals that only the bus announces', async () => {
    const [alice, bob] = [user(), user()];
    const token = await broker.connect('plain', {}, alice);
    await broker.connect('plain', {}, bob);
    const begun = await broker.authenticate('plain', { force_new: true }, alice);
    const query = await broker.consent(begun);
    broker.platform.callers.removed.add(alice.sub!);
    // The first event names a person who was not removed: writing to the bus must not delete that person's tokens.
    await announceRemoved(bob, alice);
    const listed = async (as: object) => (await broker.call<unknown[]>('GET', '/tokens', undefined, as)).body;
    await waitFor(async () => (await listed(alice)).length === 0, { what: 'the tokens being deleted' });
    expect(await broker.server.isValidToken(token)).toBe(false);
    expect(await listed(bob)).toHaveLength(1);
    expect((await broker.callback('plain', query)).status).toBe(400);
    expect((await broker.open(begun.url!)).status).toBe(400);
  });

  /** Publishes the removals of these people, in this order. */
  async function announceRemoved(...people: { sub?: string }[]): Promise<void> {
    const bus = createEventBus(broker.platform.bus, { logger: silentLogger });
    for (const { sub } of people) {
      const data = { organization_id: ORGANIZATION, identity_id: sub! };
      const event = makeEvent(IdentityRemoved, { source: '/runyard/org-access', subject: ORGANIZATION, data });
      await bus.publish('organizations', [{ key: ORGANIZATION, event }]);
    }
    await bus.close();
  }

  it('has a token of its own, which the next one replaces', async () => {
    const [first, second] = [
      { access_token: 'first-agent-token', expires_in_seconds: 3600 },
      { access_token: 'second-agent-token', metadata: { region: 'eu' } },
    ];
    const made = await broker.call('POST', '/agents/robot/providers/plain/tokens', first);
    expect(made.status).toBe(201);
    const replaced = await broker.call('POST', '/agents/robot/providers/plain/tokens', second);
    const { body } = await broker.call<{ data: unknown[] }>('GET', '/agents/robot/connections');
    expect(body.data).toEqual([replaced.body]);
    expect((await broker.authenticate('plain', { agent_id: 'robot' }, user())).status).toBe('pending');
    const byAgent = { ...user(), deployment: deployment.token };
    expect(await broker.authenticate('plain', { agent_id: 'robot' }, byAgent)).toMatchObject({
      status: 'completed',
      token: 'second-agent-token',
      metadata: { region: 'eu' },
    });
    const user_ = user();
    expect((await broker.call('POST', '/agents/robot/providers/plain/tokens', first, user_)).status).toBe(403);
    expect(await broker.platform.dump()).not.toContain(String(made.body.oauth_token_id));
  });
});
