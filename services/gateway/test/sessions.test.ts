import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import type { DeploymentRoute } from '@runyard/contracts';
import {
  IdentityChanged,
  LOOPBACK_SESSION_COOKIE,
  OrganizationSettingsChanged,
  SessionEnded,
} from '@runyard/contracts';
import { createEventBus, type EventBus, makeEvent } from '@runyard/event-bus';
import { ADDRESS_PROOF_HEADER, clientAddressHeaders, silentLogger } from '@runyard/service-kit';
import { testRedis } from '@runyard/test-kit';
import {
  deploymentRoute,
  FakeControlPlane,
  type FakeServer,
  type FakeSession,
  INTERNAL_TOKEN,
  sendJson,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };
/** Keeps code of a project from acting with the session's cookie. */
const APART = {
  'content-security-policy': 'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads',
  'x-content-type-options': 'nosniff',
};

let gateway: TestGateway;
let bus: EventBus;
let upstream: FakeServer;
let route: DeploymentRoute;
let custom: DeploymentRoute;
let session: FakeSession;
/** Headers of the deployment's next answers. */
let answerHeaders: Record<string, string | string[]> = {};
let answerStatus = 200;
/** A path of control-plane. */
let services: string;

beforeAll(async () => {
  upstream = await startFakeServer((req, res) => {
    if (req.url === '/stream') {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return;
    }
    for (const [name, value] of Object.entries(answerHeaders)) res.setHeader(name, value);
    if (Object.keys(answerHeaders).length === 0) sendJson(res, 200, { headers: req.headers });
    else res.writeHead(answerStatus).end(answerStatus === 304 ? undefined : '<html>');
  });
  route = deploymentRoute({ upstreams: [upstream.url], custom_host: 'agents.example' });
  custom = deploymentRoute({ upstreams: [upstream.url], has_custom_auth: true, workspace_id: route.workspace_id });
  const controlPlane = await FakeControlPlane.start();
  controlPlane.routes.push(route, custom);
  const redis = testRedis();
  bus = createEventBus({ kind: 'redis', ...redis }, { logger: silentLogger });
  gateway = await startGateway({
    controlPlane,
    bus: { kind: 'redis', ...redis },
    env: { TRUST_FORWARDED_HEADERS: 'true' },
  });
  await gateway.untilReady();
  await gateway.untilSubscribed();
  services = `${gateway.url}/v2/deployments`;
});
afterAll(async () => {
  await bus?.close();
  await gateway?.close();
  await upstream?.close();
});
beforeEach(() => {
  answerHeaders = {};
  session = gateway.orgAccess.signIn(route.workspace_id);
});

const cookie = (token = session.token, name = LOOPBACK_SESSION_COOKIE) => ({ cookie: `${name}=${token}` });
const bearer = () => ({ authorization: `Bearer ${session.accessToken}` });
const at = (deployment: DeploymentRoute, path = '/threads') =>
  `${gateway.url}/deployments/${deployment.deployment_id}${path}`;

/** Sends headers that `fetch` keeps to itself. */
function send(url: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const req = httpRequest(url, { method, headers }, async (res) => {
      let body = '';
      for await (const chunk of res) body += chunk;
      resolve({ status: res.statusCode!, headers: res.headers, body });
    });
    req.on('error', reject).end();
  });
}
const echoed = async (url: string, headers: Record<string, string>, method?: string) => {
  const { status, body } = await send(url, headers, method);
  expect(status).toBe(200);
  return JSON.parse(body).headers as Record<string, string>;
};

describe('the cookie of a session', () => {
  it('authenticates its person at services, and reaches org-access alone', async () => {
    const others = { cookie: `a=b; ${LOOPBACK_SESSION_COOKIE}=${session.token}; __Host-runyard_other=x; c=d` };
    const controlPlane = await echoed(services, others);
    expect(controlPlane['x-runyard-principal']).toBe(`token for control-plane of ${session.sessionId}`);
    const oauth = { cookie: `runyard_oauth=x; ${others.cookie}; __Host-runyard_oauth=y` };
    for (const cookies of [controlPlane, await echoed(services, oauth)]) expect(cookies.cookie).toBe('a=b; c=d');
    const broker = await echoed(`${gateway.url}/v2/auth/start/1`, oauth);
    expect(broker['x-runyard-principal']).toBe(`token for oauth-broker of ${session.sessionId}`);
    expect(broker.cookie).toBe('runyard_oauth=x; a=b; c=d; __Host-runyard_oauth=y');
    expect((await echoed(`${gateway.url}/api/v1/orgs/current/info`, others)).cookie).toBe(others.cookie);
    const { key } = gateway.orgAccess.issue(route.workspace_id);
    for (const deployment of [route, custom])
      expect((await echoed(at(deployment), { ...oauth, 'x-api-key': key })).cookie).toBe('a=b; c=d');
    expect((await echoed(at(route), { ...cookie(), 'x-api-key': key })).cookie).toBeUndefined();
  });

  it('comes with the address of its browser, which is proven to services and to no deployment', async () => {
    const claimed = { ...cookie(), [ADDRESS_PROOF_HEADER]: 'a proof of the client', 'x-forwarded-for': '203.0.113.7' };
    const proven = clientAddressHeaders(INTERNAL_TOKEN, '203.0.113.7');
    for (const url of [services, `${gateway.url}/v2/auth/start/1`, `${gateway.url}/api/v1/orgs/current/info`])
      expect(await echoed(url, claimed)).toMatchObject(proven);
    const { key } = gateway.orgAccess.issue(route.workspace_id);
    const seen = await echoed(at(route), { ...claimed, 'x-api-key': key });
    expect([seen['x-forwarded-for'], seen[ADDRESS_PROOF_HEADER]]).toEqual(['203.0.113.7', undefined]);
  });

  it('counts for nothing at a deployment: not below the platform’s host, nor at its own, nor for its name', async () => {
    const named = deploymentRoute({ upstreams: [upstream.url], name: 'mine', workspace_id: route.workspace_id });
    gateway.controlPlane.routes.push(named);
    await gateway.refreshRoutes();
    const below = `${gateway.url}/deployments`;
    const websocket = { connection: 'upgrade', upgrade: 'websocket' };
    const mine = { ...cookie(), ...SAME_ORIGIN };
    const asked = gateway.orgAccess.verifyRequests.length;
    const answers = await Promise.all([
      send(at(route), mine),
      send(at(route), mine, 'POST'),
      send(at(route), { ...mine, ...websocket }),
      send(`${below}/mine/threads`, { ...mine, 'x-tenant-id': route.workspace_id }),
      send(`${gateway.url}/threads`, { ...mine, host: 'agents.example' }),
      send(at(route), {}),
    ]);
    for (const { status, body } of answers)
      expect([status, body]).toEqual([401, '{"detail":"Missing authentication headers"}']);
    expect((await echoed(at(custom), mine))['x-runyard-principal']).toBeUndefined();
    expect(gateway.orgAccess.verifyRequests).toHaveLength(asked);
  });

  it('counts under the name of its address alone, never twice, and not beside another credential', async () => {
    const unknown = await Promise.all([
      echoed(services, cookie(session.token, '__Host-runyard_session')),
      echoed(services, { ...cookie(), 'x-forwarded-proto': 'https' }),
      echoed(services, { ...cookie(), 'x-forwarded-host': 'runyard.example' }),
      echoed(services, { cookie: `${cookie().cookie}; ${cookie().cookie}` }),
      echoed(services, { ...cookie(), authorization: 'Bearer foreign' }),
      echoed(services, { authorization: `Bearer ${session.token}` }),
    ]);
    for (const headers of unknown) expect(headers['x-runyard-principal']).toBeUndefined();
    for (const target of [services, at(route)])
      expect((await send(target, { 'x-api-key': session.token })).status).toBe(401);
    expect((await send(at(route), { authorization: `Bearer ${session.token}` })).status).toBe(401);
    const overTls = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'runyard.example' };
    const known = await echoed(services, { ...cookie(session.token, '__Host-runyard_session'), ...overTls });
    expect(known['x-runyard-principal']).toBeDefined();
  });

  it('counts in changes only when the browser proves that a page of this host asked for them', async () => {
    const { host } = new URL(services);
    const proofs: [number, Record<string, string>, string][] = [
      [200, SAME_ORIGIN, 'POST'],
      [200, { origin: `http://${host}` }, 'DELETE'],
      [403, {}, 'POST'],
      [403, { 'sec-fetch-site': 'cross-site', origin: `http://${host}` }, 'POST'],
      [403, { 'sec-fetch-site': 'same-site' }, 'POST'],
      [403, { 'sec-fetch-site': 'none' }, 'POST'],
      [403, { origin: 'null' }, 'POST'],
      [403, { origin: 'http://elsewhere.example' }, 'PATCH'],
      [200, { 'sec-fetch-site': 'none' }, 'GET'],
      [200, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, 'GET'],
      [403, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }, 'GET'],
      [403, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, 'GET'],
    ];
    for (const [expected, headers, method] of proofs) {
      const { status } = await send(services, { ...cookie(), ...headers }, method);
      expect({ headers, method, status }).toEqual({ headers, method, status: expected });
    }
  });

  it('of an ended session leads to the sign-in pages as a stranger', async () => {
    const ended = { ...cookie('rys_ended'), ...SAME_ORIGIN };
    expect((await echoed(`${gateway.url}/login`, ended))['x-runyard-principal']).toBeUndefined();
    const crossSite = { ...cookie(), 'sec-fetch-site': 'cross-site' };
    const page = await send(`${gateway.url}/auth/v1/sso/saml/acs`, crossSite, 'POST');
    expect(page.status).toBe(200);
    expect(JSON.parse(page.body).headers['x-runyard-principal']).toBeUndefined();
  });

  it('acts in the organization and the workspace that the request names', async () => {
    const organization = randomUUID();
    await echoed(`${gateway.url}/v2/deployments`, { ...cookie(), 'x-organization-id': organization });
    await echoed(`${gateway.url}/v2/deployments`, { ...cookie(), 'x-tenant-id': route.workspace_id });
    expect(gateway.orgAccess.verifyRequests.slice(-2)).toEqual([
      { key: session.token, audience: 'control-plane', organization_id: organization },
      { key: session.token, audience: 'control-plane', workspace_id: route.workspace_id },
    ]);
  });
});

describe('an access token', () => {
  it('authenticates as a bearer, also where a deployment has users of its own, whose bearers pass', async () => {
    const authorization = `Bearer ${session.accessToken}`;
    for (const deployment of [route, custom]) {
      const headers = await echoed(at(deployment), { authorization });
      expect(headers['x-runyard-principal']).toMatch(/^token for deployment:/);
      expect(headers.authorization).toBeUndefined();
    }
    expect((await echoed(`${gateway.url}/v2/deployments`, { authorization }))['x-runyard-principal']).toBeDefined();
    const header = Buffer.from('{"alg":"RS256","typ":"at+jwt"}').toString('base64url');
    for (const foreign of [`${header}.e30.signature`, 'e30.e30.', '.', 'bm90IGpzb24.e30.e30', 'bnVsbA.e30.e30']) {
      const passed = await echoed(at(custom), { authorization: `Bearer ${foreign}` });
      expect(passed.authorization).toBe(`Bearer ${foreign}`);
      expect(passed['x-runyard-principal']).toBeUndefined();
    }
  });
});

describe('an answer of a deployment', () => {
  const answerOf = async (url: string, host?: string) =>
    (await send(url, { 'x-api-key': gateway.orgAccess.issue(route.workspace_id).key, ...(host && { host }) })).headers;

  it('changes nothing of the host that it shares with the platform, and sets no cookie of the platform at its own', async () => {
    const ofHost = {
      'set-cookie': ['mine=1', `${LOOPBACK_SESSION_COOKIE}=stolen`],
      'clear-site-data': '"*"',
      'service-worker-allowed': '/',
      'report-to': '{}',
      nel: '{}',
    };
    for (const contentType of [undefined, 'application/json', 'text/event-stream', 'text/html', 'image/svg+xml'])
      for (answerStatus of [200, 304, 404]) {
        answerHeaders = { ...ofHost, ...(contentType && { 'content-type': contentType }) };
        const shared = await answerOf(at(route));
        for (const name of Object.keys(ofHost)) expect(shared[name]).toBeUndefined();
        expect(shared).toMatchObject(APART);
      }
    answerStatus = 200;
    answerHeaders = { ...ofHost, 'content-type': 'text/html' };
    const own = await answerOf(`${gateway.url}/threads`, 'agents.example');
    expect(own).toMatchObject({ ...ofHost, 'set-cookie': ['mine=1'] });
    expect(own['content-security-policy']).toBeUndefined();
  });

  it('has an origin of its own there beside what it says itself, and so has what the gateway says for it', async () => {
    const policy = "default-src 'self'";
    const guessing = { 'x-content-type-options': 'guess' };
    answerHeaders = { ...guessing, 'content-type': 'text/html', 'content-security-policy': policy };
    expect(await answerOf(at(route))).toMatchObject({
      ...APART,
      'content-security-policy': `${policy}, ${APART['content-security-policy']}`,
    });
    const refused = await Promise.all([
      send(at(route), {}),
      send(at(route), { 'x-api-key': gateway.orgAccess.issue(randomUUID()).key }),
      send(`${gateway.url}/.well-known/oauth-protected-resource/deployments/${route.deployment_id}/mcp`, {}),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([401, 404, 200]);
    for (const { headers } of refused) expect(headers).toMatchObject(APART);
  });
});

describe('an open stream', () => {
  const open = async (headers: Record<string, string>) => {
    const response = await fetch(at(route, '/stream'), { headers });
    expect(response.status).toBe(200);
    const end = response.text().then(
      () => 'whole',
      () => 'cut',
    );
    return { end };
  };
  const publish = (event: Parameters<typeof makeEvent>[0], data: object) =>
    bus.publish('organizations', [
      { key: 'a', event: makeEvent(event, { source: '/runyard/test', subject: 'a', data }) },
    ]);
  const end = () => {
    for (const key of [session.token, session.accessToken]) gateway.orgAccess.keys.delete(key);
  };

  it('of a session is cut at once when an event says that it ended', async () => {
    const stream = await open(bearer());
    end();
    await publish(SessionEnded, { session_id: session.sessionId });
    expect(await stream.end).toBe('cut');
  });

  it('of an access token is cut when its identity changed, and of a network when it is no longer allowed', async () => {
    const key = gateway.orgAccess.issue(route.workspace_id, session.organizationId);
    const ofToken = await open(bearer());
    const ofKey = await open({ 'x-api-key': key.key });
    end();
    await publish(IdentityChanged, { organization_id: session.organizationId, identity_id: session.identityId });
    expect(await ofToken.end).toBe('cut');
    key.allowedNetworks = ['203.0.113.0/24'];
    await publish(OrganizationSettingsChanged, { organization_id: session.organizationId });
    expect(await ofKey.end).toBe('cut');
  });

  it('of a key is cut when its role loses a permission, and not when it gets one', async () => {
    const [less, more] = [gateway.orgAccess.issue(route.workspace_id), gateway.orgAccess.issue(route.workspace_id)];
    less.permissions = ['runs:create', 'runs:read'];
    const streams = [await open({ 'x-api-key': less.key }), await open({ 'x-api-key': more.key })];
    less.permissions = ['runs:create'];
    more.permissions = ['runs:read'];
    expect(await Promise.race(streams.map(async ({ end }, index) => [await end, index]))).toEqual(['cut', 0]);
    const requests = () => gateway.orgAccess.verifyRequests.filter(({ key }) => key === more.key).length;
    await expect.poll(requests).toBeGreaterThan(1);
    expect(await Promise.race([streams[1]!.end, 'open'])).toBe('open');
    gateway.orgAccess.keys.delete(more.key);
  });

  it('of a session is cut also without an event', async () => {
    const stream = await open(bearer());
    end();
    expect(await stream.end).toBe('cut');
  });
});

describe('an organization that limits its networks', () => {
  it('is used from these alone, also with keys', async () => {
    const key = gateway.orgAccess.issue(route.workspace_id);
    const statuses = async (allowedNetworks: string[], forwardedFor: string) => {
      const limited = { ...key, key: `${key.key.slice(0, -3)}${randomUUID().slice(0, 3)}`, allowedNetworks };
      gateway.orgAccess.keys.set(limited.key, limited);
      const headers = { 'x-api-key': limited.key, 'x-forwarded-for': forwardedFor };
      const answers = [at(route), `${gateway.url}/v2/deployments`].map((url) => send(url, headers));
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    expect(await statuses(['203.0.113.7', '2001:db8::/32'], '203.0.113.7')).toEqual([200, 200]);
    expect(await statuses(['203.0.113.7', '2001:db8::/32'], '2001:db8:1::9')).toEqual([200, 200]);
    expect(await statuses(['203.0.113.0/24'], '::ffff:203.0.113.9')).toEqual([200, 200]);
    expect(await statuses(['203.0.113.7', 'nonsense'], '203.0.113.8')).toEqual([403, 403]);
    expect(await statuses([], '203.0.113.7')).toEqual([403, 403]);
    expect(await statuses(['0.0.0.0/0'], '2001:db8::1')).toEqual([403, 403]);
  });
});
