import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import type { DeploymentRoute } from '@runyard/contracts';
import {
  deploymentRoute,
  FakeControlPlane,
  type FakeKey,
  type FakeServer,
  INTERNAL_TOKEN,
} from '@runyard/test-kit/fake-platform';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEchoDeployment } from './echo-deployment.ts';
import { startGateway, type TestGateway } from './start-gateway.ts';

interface Echo {
  url: string;
  headers: Record<string, string>;
  body: string;
}

describe('the admission of a request', () => {
  let gateway: TestGateway;
  let upstream: FakeServer;
  let route: DeploymentRoute;
  let custom: DeploymentRoute;
  let key: FakeKey;

  const at = (deployment: DeploymentRoute, path = '/threads') =>
    `${gateway.url}/deployments/${deployment.deployment_id}${path}`;
  const get = (url: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(url, { headers, ...init });
  const echo = async (url: string, headers: Record<string, string>): Promise<Echo> => {
    const response = await get(url, headers);
    expect(response.status).toBe(200);
    return (await response.json()) as Echo;
  };

  beforeEach(async () => {
    upstream = await startEchoDeployment();
    route = deploymentRoute({ upstreams: [upstream.url], slug: 'hello' });
    custom = deploymentRoute({ upstreams: [upstream.url], has_custom_auth: true, workspace_id: route.workspace_id });
    const controlPlane = await FakeControlPlane.start();
    controlPlane.routes.push(route, custom);
    gateway = await startGateway({ controlPlane });
    key = gateway.orgAccess.issue(route.workspace_id);
    await gateway.untilReady();
  });
  afterEach(async () => {
    await gateway.close();
    await upstream.close();
  });

  describe('to a deployment', () => {
    it('forwards a principal token and not the key', async () => {
      const { headers } = await echo(at(route), { 'x-api-key': key.key });
      expect(headers['x-runyard-principal']).toBe(`token for deployment:${route.deployment_id} of ${key.keyId}`);
      expect(JSON.stringify(headers)).not.toContain(key.key);
    });

    it('takes the key as a bearer too', async () => {
      const { headers } = await echo(at(route), { authorization: `Bearer ${key.key}` });
      expect(headers['x-runyard-principal']).toMatch(/^token for deployment:/);
      expect(headers.authorization).toBeUndefined();
    });

    it('keeps a foreign Authorization beside a good key', async () => {
      const { headers } = await echo(at(route), { 'x-api-key': key.key, authorization: 'Bearer of-the-user' });
      expect(headers.authorization).toBe('Bearer of-the-user');
    });

    it('drops a principal that the caller made up', async () => {
      const forged = await echo(at(custom), { 'x-runyard-principal': 'forged' });
      expect(forged.headers['x-runyard-principal']).toBeUndefined();
      const real = await echo(at(route), { 'x-runyard-principal': 'forged', 'x-api-key': key.key });
      expect(real.headers['x-runyard-principal']).toMatch(/^token for/);
    });

    it('answers 401 without a key and with a bad one', async () => {
      const without = await get(at(route));
      expect([without.status, await without.json()]).toEqual([401, { detail: 'Missing authentication headers' }]);
      const bad = await get(at(route), { 'x-api-key': 'lsv2_sk_nonsense' });
      expect([bad.status, await bad.json()]).toEqual([401, { detail: 'Invalid API key' }]);
      expect((await get(at(route), { authorization: 'Bearer whatever' })).status).toBe(401);
      expect((await get(at(route), { 'x-api-key': 'k'.repeat(5_000) })).status).toBe(401);
      expect((await get(at(route), { authorization: 'Basic dTpw' })).status).toBe(401);
    });

    it('answers the same 404, byte for byte, whether a deployment is unknown or of another workspace', async () => {
      const stranger = gateway.orgAccess.issue(randomUUID());
      const answers = await Promise.all(
        [
          at(route),
          `${gateway.url}/deployments/${randomUUID()}/threads`,
          `${gateway.url}/deployments/nope/threads`,
        ].map(async (url) => {
          const response = await get(url, { 'x-api-key': stranger.key, 'x-request-id': 'same' });
          const { date: _, ...headers } = Object.fromEntries(response.headers);
          return { status: response.status, headers, body: await response.text() };
        }),
      );
      expect(answers[0]).toMatchObject({ status: 404, body: '{"detail":"Deployment not found"}' });
      expect(answers[1]).toEqual(answers[0]);
      expect(answers[2]).toEqual(answers[0]);
    });

    it('answers 401, not 404, to a stranger who asks for a deployment that does not exist', async () => {
      expect((await get(`${gateway.url}/deployments/${randomUUID()}/threads`)).status).toBe(401);
    });

    it('reaches it by slug, and reports the path that was taken off', async () => {
      const { url, headers } = await echo(`${gateway.url}/deployments/hello/threads/T?x=1`, { 'x-api-key': key.key });
      expect(url).toBe('/threads/T?x=1');
      expect(headers).toMatchObject({
        'x-forwarded-prefix': '/deployments/hello',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-proto': 'http',
        'x-forwarded-host': new URL(gateway.url).host,
      });
    });

    it('reports one address of the client: what it writes in front of the one that its proxy saw is nobody’s word', async () => {
      const controlPlane = await FakeControlPlane.start();
      controlPlane.routes.push(route);
      const proxied = await startGateway({ controlPlane, env: { TRUSTED_PROXIES: '127.0.0.0/8' } });
      try {
        await proxied.untilReady();
        const caller = proxied.orgAccess.issue(route.workspace_id);
        const forwarded = { 'x-api-key': caller.key, 'x-forwarded-for': '6.6.6.6, 203.0.113.9' };
        const { headers } = await echo(`${proxied.url}/deployments/hello/threads`, forwarded);
        expect(headers['x-forwarded-for']).toBe('203.0.113.9');
      } finally {
        await proxied.close();
      }
    });

    it('reaches it by its name from its own workspace, also where another deployment has that word as slug', async () => {
      const workspace = randomUUID();
      const namesake = deploymentRoute({
        upstreams: [upstream.url],
        name: 'hello',
        slug: 'hello-2',
        workspace_id: workspace,
      });
      const spaced = deploymentRoute({ upstreams: [upstream.url], name: 'My agent', workspace_id: workspace });
      gateway.controlPlane.routes.push(namesake, spaced);
      await gateway.refreshRoutes();
      const own = gateway.orgAccess.issue(workspace);
      const audienceOf = async (name: string, caller: FakeKey) =>
        (await echo(`${gateway.url}/deployments/${name}/threads`, { 'x-api-key': caller.key })).headers[
          'x-runyard-principal'
        ];
      expect(await audienceOf('hello', own)).toContain(namesake.deployment_id);
      expect(await audienceOf('My%20agent', own)).toContain(spaced.deployment_id);
      expect(await audienceOf('hello', key)).toContain(route.deployment_id);
      const foreign = await get(`${gateway.url}/deployments/My%20agent/threads`, { 'x-api-key': key.key });
      expect(foreign.status).toBe(404);
    });

    it('needs no key for /ok, and one for /metrics', async () => {
      expect((await get(at(route, '/ok'))).status).toBe(200);
      expect((await get(at(route, '/metrics'))).status).toBe(401);
    });

    it('passes a browser preflight on without a key, and makes its own errors readable for pages', async () => {
      const headers = { origin: 'https://page.example', 'access-control-request-method': 'POST' };
      expect((await get(at(route), headers, { method: 'OPTIONS' })).status).toBe(200);
      const refused = await get(at(route), { origin: 'https://page.example' });
      expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    });

    it('answers 503 with Retry-After when it has no upstream, and when none accepts a connection', async () => {
      const empty = deploymentRoute({ upstreams: [], workspace_id: route.workspace_id });
      const dead = deploymentRoute({ upstreams: ['http://127.0.0.1:1'], workspace_id: route.workspace_id });
      gateway.controlPlane.routes.push(empty, dead);
      await gateway.refreshRoutes();
      for (const [deployment, retryAfter] of [
        [empty, '5'],
        [dead, '1'],
      ] as const) {
        const response = await get(at(deployment), { 'x-api-key': key.key });
        expect([response.status, response.headers.get('retry-after')]).toEqual([503, retryAfter]);
        expect(Object.keys((await response.json()) as object)).toEqual(['detail']);
      }
    });

    it('tries the next upstream when one does not accept a connection', async () => {
      const half = deploymentRoute({
        upstreams: ['http://127.0.0.1:1', upstream.url],
        workspace_id: route.workspace_id,
      });
      gateway.controlPlane.routes.push(half);
      await gateway.refreshRoutes();
      for (let each = 0; each < 4; each += 1) {
        const response = await get(at(half), { 'x-api-key': key.key }, { method: 'POST', body: '{"n":1}' });
        expect(((await response.json()) as Echo).body).toBe('{"n":1}');
      }
    });
  });

  describe('to a deployment with an auth handler of its own', () => {
    it('passes requests without credentials and with foreign ones unchanged', async () => {
      const nobody = await echo(at(custom), {});
      expect(nobody.headers['x-runyard-principal']).toBeUndefined();
      const bearer = await echo(at(custom), { authorization: 'Bearer of-the-user' });
      expect(bearer.headers.authorization).toBe('Bearer of-the-user');
      const ownKey = await echo(at(custom), { 'x-api-key': 'key-of-the-project' });
      expect(ownKey.headers['x-api-key']).toBe('key-of-the-project');
    });

    it('never answers 401 itself to an unknown bearer, even one that looks like a key', async () => {
      const { headers } = await echo(at(custom), { authorization: 'Bearer lsv2_pt_unknown' });
      expect(headers.authorization).toBe('Bearer lsv2_pt_unknown');
    });

    it('gets no key of another workspace, as which it could act there', async () => {
      const foreign = gateway.orgAccess.issue(crypto.randomUUID());
      const sent: Record<string, string>[] = [{ authorization: `Bearer ${foreign.key}` }, { 'x-api-key': foreign.key }];
      for (const headers of sent) expect((await get(at(custom), headers)).status).toBe(404);
    });

    it('still recognises a platform key', async () => {
      const { headers } = await echo(at(custom), { 'x-api-key': key.key, authorization: 'Bearer of-the-user' });
      expect(headers['x-runyard-principal']).toMatch(/^token for deployment:/);
      expect(headers.authorization).toBe('Bearer of-the-user');
      expect(headers['x-api-key']).toBeUndefined();
      expect((await get(at(custom), { 'x-api-key': 'lsv2_sk_nonsense' })).status).toBe(401);
    });
  });

  describe('to a path without a user, of a deployment with an auth handler of its own', () => {
    it('shows metrics to keys of the platform alone, at its root and below its mount prefix', async () => {
      custom.mount_prefix = '/agents';
      await gateway.refreshRoutes();
      for (const path of ['/metrics', '/agents/metrics']) {
        expect((await get(at(custom, path), { authorization: 'Bearer of-the-user' })).status).toBe(401);
        expect((await get(at(custom, path), { 'x-api-key': key.key })).status).toBe(200);
      }
    });

    it('keeps the credentials of the platform from it, and passes others on', async () => {
      const foreign = { 'x-api-key': 'key-of-the-project', authorization: 'Bearer of-the-user' };
      expect((await echo(at(custom, '/ok'), foreign)).headers).toMatchObject(foreign);
      const own = await echo(at(custom, '/ok'), { 'x-api-key': key.key, authorization: `Bearer ${key.key}` });
      expect(JSON.stringify(own.headers)).not.toContain(key.key);
      const bearer = await echo(at(custom, '/ok'), { authorization: `Bearer ${key.key}` });
      expect(bearer.headers.authorization).toBeUndefined();
    });
  });

  describe("to the platform's services", () => {
    it('forwards the principal for that service, in the requested workspace', async () => {
      const { headers, url } = await echo(`${gateway.url}/api-host/v2/deployments?limit=1`, {
        'x-api-key': key.key,
        'X-Tenant-ID': route.workspace_id,
      });
      expect(url).toBe('/v2/deployments?limit=1');
      expect(headers['x-runyard-principal']).toBe(`token for control-plane of ${key.keyId}`);
      expect(headers['x-tenant-id']).toBe(route.workspace_id);
      expect(gateway.orgAccess.verifyRequests.at(-1)).toMatchObject({ workspace_id: route.workspace_id });
    });

    it('passes requests without a key, for the service to judge', async () => {
      const { headers } = await echo(`${gateway.url}/login`, { authorization: 'Bearer a.session.token' });
      expect(headers.authorization).toBe('Bearer a.session.token');
      expect(headers['x-runyard-principal']).toBeUndefined();
    });

    it('passes a signed upload with all its headers and checks no key, also while org-access is away', async () => {
      gateway.orgAccess.isUnavailable = true;
      const { headers, url } = await echo(`${gateway.url}/v2/uploads/some?signature=a`, { 'x-api-key': 'not a key' });
      expect(url).toBe('/v2/uploads/some?signature=a');
      expect(headers['x-api-key']).toBe('not a key');
      expect(headers['x-runyard-principal']).toBeUndefined();
      expect(gateway.orgAccess.verifyRequests).toEqual([]);
    });

    it("answers 403 with org-access's words for a workspace the key does not reach", async () => {
      const response = await get(`${gateway.url}/v2/deployments`, {
        'x-api-key': key.key,
        'x-tenant-id': randomUUID(),
      });
      expect([response.status, await response.json()]).toEqual([403, { detail: 'Forbidden workspace' }]);
    });

    it('passes the token of a deployment on to oauth-broker alone, beside a key, and takes it for no key', async () => {
      const token = { 'x-runyard-deployment-token': 'rdt_of_a_deployment' };
      const both = { 'x-api-key': key.key, ...token };
      expect((await echo(`${gateway.url}/v2/auth/authenticate`, both)).headers).toMatchObject(token);
      for (const url of [at(route), at(custom), `${gateway.url}/v2/deployments`, `${gateway.url}/api/v1/workspaces`])
        expect((await echo(url, both)).headers).not.toHaveProperty('x-runyard-deployment-token');
      expect((await get(at(route), token)).status).toBe(401);
      const asKey = { 'x-api-key': token['x-runyard-deployment-token'] };
      expect((await get(`${gateway.url}/v2/auth/authenticate`, asKey)).status).toBe(401);
    });

    it.each(['/internal/routes', '/internal/oauth/former-rows', '/internal/agents'])(
      'routes nothing to the internal path %s',
      async (path) => {
        const response = await get(gateway.url + path, { 'x-api-key': key.key });
        expect([response.status, await response.json()]).toEqual([404, { detail: 'Not Found' }]);
      },
    );
  });

  it('gives every request an id, the same on both sides', async () => {
    const given = await get(at(route), { 'x-api-key': key.key, 'x-request-id': 'my-id' });
    expect(given.headers.get('x-request-id')).toBe('my-id');
    expect(((await given.json()) as Echo).headers['x-request-id']).toBe('my-id');
    const made = await get(at(route), { 'x-api-key': key.key, 'x-request-id': 'not\tgood' });
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('keeps its own metrics for holders of the internal token: they are about all tenants', async () => {
    const refused: Record<string, string>[] = [{}, { 'x-api-key': key.key }, { authorization: `Bearer ${key.key}` }];
    for (const headers of refused) expect((await get(`${gateway.url}/metrics`, headers)).status).toBe(401);
    await echo(at(route), { 'x-api-key': key.key });
    const text = await (await get(`${gateway.url}/metrics`, { authorization: `Bearer ${INTERNAL_TOKEN}` })).text();
    expect(text).toContain(
      'runyard_http_requests_total{method="GET",path="/deployments/{deployment}/…",status="200"} 1',
    );
  });

  it('is live but not ready, and answers 503 for deployments, until control-plane gave it routes', async () => {
    gateway.controlPlane.isUnavailable = true;
    await gateway.stop();
    const starting = await startGateway({ orgAccess: gateway.orgAccess, controlPlane: gateway.controlPlane });
    expect((await get(`${starting.url}/ok`)).status).toBe(200);
    const ready = await get(`${starting.url}/ok?check_db=1`);
    expect([ready.status, await ready.json()]).toEqual([503, { detail: 'Not available: routes' }]);
    const early = await get(`${starting.url}/deployments/hello/threads`, { 'x-api-key': key.key });
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
    gateway.controlPlane.isUnavailable = false;
    await starting.untilReady();
    expect((await get(`${starting.url}/deployments/hello/threads`, { 'x-api-key': key.key })).status).toBe(200);
    await starting.stop();
  });

  it('answers 503 for keys it never saw while org-access is away', async () => {
    gateway.orgAccess.isUnavailable = true;
    const response = await get(at(route), { 'x-api-key': key.key });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  });

  it('answers invalid HTTP with JSON', async () => {
    const { port } = new URL(gateway.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.end('NONSENSE\r\n\r\n');
    let received = '';
    for await (const chunk of socket) received += chunk;
    expect(received).toMatch(/^HTTP\/1\.1 400 Bad Request/);
    expect(received).toMatch(/\{"detail":"Malformed HTTP request"\}$/);
  });
});
