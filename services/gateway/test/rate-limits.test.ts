import { randomUUID } from 'node:crypto';
import { request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { DeploymentRoute } from '@runyard/contracts';
import { FaultLine, type TestRedis, testRedis, waitFor } from '@runyard/test-kit';
import {
  deploymentRoute,
  FakeControlPlane,
  type FakeKey,
  type FakeServer,
  INTERNAL_TOKEN,
  sendJson,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEchoDeployment } from './echo-deployment.ts';
import { startGateway, type TestGateway } from './start-gateway.ts';

const KEY_OF_TWO = { RATE_LIMIT_RPS: '0.1', RATE_LIMIT_BURST: '2' };

/** Asks for an upgrade that is refused. Returns the status of the answer. */
function upgrade(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const req = request(url, { headers });
    req.on('response', (res) => resolve(res.resume().statusCode!));
    req.on('error', reject).end();
  });
}

describe('the rate limits of callers', () => {
  let upstream: FakeServer;
  let route: DeploymentRoute;
  let custom: DeploymentRoute;
  let redis: TestRedis;
  let gateways: TestGateway[];
  let key: FakeKey;

  /** Starts a gateway: the first of a test has the fakes behind it, further ones are its replicas. */
  const start = async (env: Record<string, string> = {}): Promise<TestGateway> => {
    let [first] = gateways;
    const controlPlane = first?.controlPlane ?? (await FakeControlPlane.start());
    if (!first) controlPlane.routes.push(route, custom);
    const gateway = await startGateway({ controlPlane, env, ...(first && { orgAccess: first.orgAccess }) });
    first ??= gateway;
    gateways.push(gateway);
    key ??= first.orgAccess.issue(route.workspace_id);
    await gateway.untilReady();
    return gateway;
  };
  const urlOf = (gateway: TestGateway, path = '/threads', deployment = route) =>
    `${gateway.url}/deployments/${deployment.deployment_id}${path}`;
  const ask = (gateway: TestGateway, shown = key.key, headers: Record<string, string> = {}) =>
    fetch(urlOf(gateway), { headers: { 'x-api-key': shown, ...headers } });
  const statuses = async (count: number, once: () => Promise<Response>) => {
    const all: number[] = [];
    for (let each = 0; each < count; each += 1) all.push((await once()).status);
    return all;
  };

  beforeEach(async () => {
    gateways = [];
    key = undefined as unknown as FakeKey;
    redis = testRedis();
    upstream = await startEchoDeployment();
    route = deploymentRoute({ upstreams: [upstream.url] });
    custom = deploymentRoute({ upstreams: [upstream.url], has_custom_auth: true });
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await gateways[0]?.close();
    await upstream.close();
    await redis.close();
  });

  it('runs of a person, a workspace and an organization are limited while their requests are open', async () => {
    const gateway = await start({
      HTTP_MAX_RUNS_PER_PERSON: '1',
      HTTP_MAX_RUNS_PER_WORKSPACE: '2',
      HTTP_MAX_RUNS_PER_ORGANIZATION: '3',
    });
    const held: ServerResponse[] = [];
    const holding = await startFakeServer((req, res) => {
      if (req.url?.endsWith('/wait')) held.push(res.writeHead(200));
      else sendJson(res, 200, {});
      if (!res.writableEnded) res.flushHeaders();
    });
    const sibling = { ...route, deployment_id: randomUUID(), workspace_id: randomUUID(), upstreams: [holding.url] };
    gateway.controlPlane.routes.push(sibling);
    route.upstreams = [holding.url];
    route.mount_prefix = '/below';
    await gateway.refreshRoutes();
    const ada = gateway.orgAccess.signIn(route.workspace_id);
    const elsewhere = gateway.orgAccess.issue(sibling.workspace_id);
    const run = (headers: Record<string, string>, path = '/runs/wait', deployment = route) =>
      fetch(urlOf(gateway, path, deployment), { method: 'POST', headers, body: '{}' });
    const byAda = { authorization: `Bearer ${ada.accessToken}` };
    const byKey = { 'x-api-key': key.key };
    const detailOf = async (answer: Promise<Response>) => ((await (await answer).json()) as { detail: string }).detail;

    expect((await run(byAda)).status).toBe(200);
    expect(await detailOf(run(byAda, '/below/threads/t/runs/wait'))).toBe('Too many runs of this person are open');
    expect((await run(byAda, '/runs')).status).toBe(200);
    expect((await run(byKey, '/below/runs/wait')).status).toBe(200);
    expect(await detailOf(run(byKey))).toBe('Too many runs of this workspace are open');
    expect((await run({ 'x-api-key': elsewhere.key }, '/runs/wait', sibling)).status).toBe(200);
    expect(await detailOf(run({ 'x-api-key': elsewhere.key }, '/runs/wait', sibling))).toBe(
      'Too many runs of this organization are open',
    );
    expect((await run(byKey, '/threads')).status).toBe(200);
    for (const res of held.splice(0)) res.end();
    const openExchanges = async () => {
      const headers = { authorization: `Bearer ${INTERNAL_TOKEN}` };
      return /^runyard_gateway_open_exchanges (\d+)$/m.exec(
        await (await fetch(`${gateway.url}/metrics`, { headers })).text(),
      )?.[1];
    };
    await waitFor(async () => (await openExchanges()) === '0', { what: 'refused runs to be forgotten too' });
    await waitFor(async () => (await run(byAda)).status === 200, { what: 'room for another run' });
    for (const res of held) res.end();
    await holding.close();
  });

  it('a key over its rate is answered 429 with Retry-After, and each answer reports how much is left', async () => {
    const gateway = await start(KEY_OF_TWO);
    const first = await ask(gateway);
    expect(first.headers.get('ratelimit-policy')).toBe('"key";q=2;w=20, "tenant";q=8000;w=2');
    expect(first.headers.get('ratelimit')).toBe('"key";r=1;t=10, "tenant";r=7999;t=1');
    await ask(gateway);
    const refused = await ask(gateway);
    expect([refused.status, await refused.json()]).toEqual([429, { detail: 'Too many requests with this key' }]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(5);
    expect(refused.headers.get('ratelimit')).toMatch(/^"key";r=0;t=(1\d|20)$/);
    const other = gateway.orgAccess.issue(route.workspace_id);
    expect((await ask(gateway, other.key)).status).toBe(200);
    const metrics = await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${INTERNAL_TOKEN}` } });
    expect(await metrics.text()).toContain('http_requests_refused_total{reason="rate_of_key"} 1');
  });

  it('are shared by the keys of one workspace', async () => {
    const gateway = await start({ RATE_LIMIT_TENANT_RPS: '0.1', RATE_LIMIT_TENANT_BURST: '2' });
    const second = gateway.orgAccess.issue(route.workspace_id);
    expect(await statuses(2, () => ask(gateway))).toEqual([200, 200]);
    const refused = await ask(gateway, second.key);
    expect([refused.status, await refused.json()]).toEqual([429, { detail: 'Too many requests of this workspace' }]);
    const elsewhere = gateway.orgAccess.issue(randomUUID());
    expect((await ask(gateway, elsewhere.key)).status).toBe(404);
  });

  it('count public paths, and callers whom only the deployment knows, by address', async () => {
    const gateway = await start({ RATE_LIMIT_ADDRESS_RPS: '0.1', RATE_LIMIT_ADDRESS_BURST: '2' });
    expect((await fetch(urlOf(gateway, '/ok'))).status).toBe(200);
    const stranger = () => fetch(urlOf(gateway, '/threads', custom), { headers: { authorization: 'Bearer mine' } });
    expect((await stranger()).status).toBe(200);
    const refused = await stranger();
    expect([refused.status, await refused.json()]).toEqual([429, { detail: 'Too many requests from this address' }]);
    expect((await fetch(urlOf(gateway, '/ok'))).status).toBe(429);
    expect((await ask(gateway)).status).toBe(200);
  });

  it('each message over a websocket counts as a request, and one above the rate waits', async () => {
    const gateway = await start({ RATE_LIMIT_RPS: '20', RATE_LIMIT_BURST: '3' });
    upstream.server.on('upgrade', (_req, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n');
      socket.on('data', (bytes: Buffer) => socket.write(bytes)).on('end', () => socket.end());
    });
    const { hostname, port, pathname } = new URL(urlOf(gateway, '/ws'));
    const client = connect(Number(port), hostname);
    const message = Buffer.from([0x81, 0x82, 1, 2, 3, 4, 5, 6]);
    const head = `GET ${pathname} HTTP/1.1\r\nHost: h\r\nX-Api-Key: ${key.key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    const begunAt = performance.now();
    // Some may come with the head, before anybody agreed.
    client.write(Buffer.concat([Buffer.from(head), ...Array.from({ length: 22 }, () => message)]));
    let echoed = '';
    client.on('data', (bytes: Buffer) => (echoed += bytes.toString('latin1')));
    await waitFor(() => echoed.endsWith(message.toString('latin1').repeat(22)));
    // The upgrade and two messages are let in at once, the other 20 at 20 per second.
    expect(performance.now() - begunAt).toBeGreaterThan(950);
    client.destroy();
  });

  it('a request that is refused counts too: at a service, a deployment, or by a websocket', async () => {
    const gateway = await start({ ...KEY_OF_TWO, RATE_LIMIT_ADDRESS_RPS: '0.1', RATE_LIMIT_ADDRESS_BURST: '3' });
    const { orgAccess } = gateway;
    const service = (caller: FakeKey) =>
      fetch(`${gateway.url}/v2/deployments`, { headers: { 'x-api-key': caller.key, 'x-tenant-id': randomUUID() } });
    const deployment = (caller: FakeKey, id: string = randomUUID()) =>
      fetch(`${gateway.url}/deployments/${id}/threads`, { headers: { 'x-api-key': caller.key } });
    const websocket = (caller: FakeKey) =>
      upgrade(urlOf(gateway), { 'x-api-key': caller.key, upgrade: 'websocket', connection: 'Upgrade' });
    const issue = () => orgAccess.issue(randomUUID());
    const [one, two, three, four] = [issue(), issue(), issue(), issue()];
    expect(await statuses(3, () => service(one))).toEqual([403, 403, 429]);
    expect(await statuses(3, () => deployment(two))).toEqual([404, 404, 429]);
    expect(await statuses(3, () => deployment(three, route.deployment_id))).toEqual([404, 404, 429]);
    expect([await websocket(four), await websocket(four), await websocket(four)]).toEqual([404, 404, 429]);
    const without = () => fetch(urlOf(gateway));
    expect(await statuses(4, without)).toEqual([401, 401, 401, 429]);
  });

  it('a key for which random workspaces are requested stops to ask org-access, and hinders nobody else', async () => {
    const gateway = await start({ RATE_LIMIT_FAILURES_RPS: '0.1', RATE_LIMIT_FAILURES_BURST: '2' });
    const { verifyRequests } = gateway.orgAccess;
    const inWorkspace = (id: string) => () =>
      fetch(`${gateway.url}/v2/deployments`, { headers: { 'x-api-key': key.key, 'x-tenant-id': id } });
    expect(await statuses(1, inWorkspace(route.workspace_id))).toEqual([200]);
    expect(await statuses(2, () => inWorkspace(randomUUID())())).toEqual([403, 403]);
    const asked = verifyRequests.length;
    const refused = await inWorkspace(randomUUID())();
    const detail = 'Too many requests with this key for what it does not reach';
    expect([refused.status, await refused.json()]).toEqual([429, { detail }]);
    expect((await fetch(urlOf(gateway, '/threads', custom), { headers: { 'x-api-key': key.key } })).status).toBe(429);
    expect(verifyRequests).toHaveLength(asked);
    expect(await statuses(2, inWorkspace(route.workspace_id.toUpperCase()))).toEqual([200, 200]);
    const colleague = gateway.orgAccess.issue(route.workspace_id);
    expect((await ask(gateway, colleague.key)).status).toBe(200);
  });

  it('an id that none can be is refused without a question to org-access', async () => {
    const gateway = await start();
    for (const name of ['x-tenant-id', 'x-organization-id']) {
      const headers = { 'x-api-key': key.key, [name]: 'one, another' };
      const refused = await fetch(`${gateway.url}/v2/deployments`, { headers });
      expect([refused.status, await refused.json()]).toEqual([
        403,
        { detail: 'You do not have access to one, another: it is no id' },
      ]);
    }
    expect(gateway.orgAccess.verifyRequests).toEqual([]);
  });

  describe('for a caller who guesses credentials', () => {
    const FEW_FAILURES = { RATE_LIMIT_FAILURES_RPS: '0.1', RATE_LIMIT_FAILURES_BURST: '2' };
    const guess = (gateway: TestGateway, headers: Record<string, string> = {}) =>
      ask(gateway, `lsv2_sk_${randomUUID()}`, headers);

    it('refuse it before org-access is asked, while known keys of the same address continue', async () => {
      const gateway = await start(FEW_FAILURES);
      expect((await ask(gateway)).status).toBe(200);
      expect(await statuses(2, () => guess(gateway))).toEqual([401, 401]);
      const asked = gateway.orgAccess.verifyRequests.length;
      const refused = await guess(gateway);
      expect([refused.status, await refused.json()]).toEqual([
        429,
        { detail: 'Too many failures to authenticate from this address' },
      ]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(gateway.orgAccess.verifyRequests.length).toBe(asked);
      expect((await ask(gateway)).status).toBe(200);
      expect((await fetch(urlOf(gateway, '/ok'))).status).toBe(200);
    });

    it('refuse it wherever the guess goes: a service, a deployment, one with its own handler', async () => {
      const gateway = await start(FEW_FAILURES);
      const headers = () => ({ 'x-api-key': `lsv2_sk_${randomUUID()}` });
      expect((await fetch(urlOf(gateway), { headers: headers() })).status).toBe(401);
      expect((await fetch(`${gateway.url}/v2/deployments`, { headers: headers() })).status).toBe(401);
      for (const url of [urlOf(gateway), `${gateway.url}/v2/deployments`, urlOf(gateway, '/threads', custom)]) {
        expect((await fetch(url, { headers: headers() })).status).toBe(429);
      }
    });

    it('count the answers of a service too, as sign-ins are, and then keep it from the service without a key', async () => {
      const gateway = await start(FEW_FAILURES);
      gateway.controlPlane.answerStatus = 401;
      const signIn = () => fetch(`${gateway.url}/v2/deployments`, { headers: { authorization: 'Bearer a.session' } });
      expect(await statuses(3, signIn)).toEqual([401, 401, 429]);
    });

    it('ignore the other addresses it names, and count its own behind a trusted proxy', async () => {
      const gateway = await start(FEW_FAILURES);
      const guessFromAnotherAddress = () =>
        guess(gateway, { 'x-forwarded-for': `198.51.100.${Math.ceil(Math.random() * 250)}` });
      expect(await statuses(3, guessFromAnotherAddress)).toEqual([401, 401, 429]);
      const proxied = await start({ ...FEW_FAILURES, TRUSTED_PROXIES: '127.0.0.0/8' });
      const from = (address: string) => () => guess(proxied, { 'x-forwarded-for': `6.6.6.6, ${address}` });
      expect(await statuses(3, from('203.0.113.7'))).toEqual([401, 401, 429]);
      expect(await statuses(1, from('203.0.113.8'))).toEqual([401]);
    });
  });

  describe('with several replicas', () => {
    const sharedVariables = (redisUri: string) => ({
      ...KEY_OF_TWO,
      REDIS_URI: redisUri,
      REDIS_KEY_PREFIX: redis.prefix,
    });
    const left = async (gateway: TestGateway) => {
      const answer = await ask(gateway);
      return answer.status === 429 ? 0 : Number(/"key";r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]);
    };

    it('count at the others what one has let through', async () => {
      const [one, other] = [await start(sharedVariables(redis.url)), await start(sharedVariables(redis.url))];
      expect((await ask(one)).status).toBe(200);
      await waitFor(async () => (await left(other)) === 0, { what: 'the other replica to know' });
      expect((await ask(other)).status).toBe(429);
    });

    it('apply in each by itself while Redis is away, and together when it is back', async () => {
      const line = await FaultLine.to(redis.url);
      try {
        await line.refuse();
        const env = { ...sharedVariables(line.url), RATE_LIMIT_BURST: '1000' };
        const [one, other] = [await start(env), await start(env)];
        expect(await statuses(3, () => ask(one))).toEqual([200, 200, 200]);
        expect(await left(other)).toBe(999);
        await line.heal();
        let own = 1;
        const knowsOfOne = async () => {
          await ask(one);
          own += 1;
          return (await left(other)) < 1_000 - own;
        };
        await waitFor(knowsOfOne, { what: 'the replicas to count together' });
      } finally {
        await line.close();
      }
    });

    it('answer every request while Redis is unresponsive', async () => {
      const line = await FaultLine.to(redis.url);
      try {
        const gateway = await start({ ...sharedVariables(line.url), RATE_LIMIT_BURST: '50' });
        await ask(gateway);
        line.partition();
        const answers = await Promise.all(Array.from({ length: 51 }, () => ask(gateway)));
        expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
      } finally {
        await line.close();
      }
    });
  });
});
