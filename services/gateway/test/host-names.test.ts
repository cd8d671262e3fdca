import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import {
  deploymentRoute,
  FakeControlPlane,
  type FakeKey,
  type FakeServer,
  readRequestBody,
  sendJson,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

const DOMAIN = 'agents.example.com';

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: { path?: string; headers: Record<string, string> } & Record<string, unknown>;
}

/** These tests have two deployments behind one gateway: one has a host name of its own beside its slug's. */
describe('the host name of a deployment', () => {
  let gateway: TestGateway;
  let upstream: FakeServer;
  let key: FakeKey;
  const hello = deploymentRoute({ upstreams: [], slug: 'hello', name: 'hello' });
  const chat = deploymentRoute({ upstreams: [], slug: 'chat', custom_host: 'chat.acme.test' });

  beforeAll(async () => {
    upstream = await startFakeServer((req, res) => answer(req, res));
    for (const route of [hello, chat]) route.upstreams = [upstream.url];
    const controlPlane = await FakeControlPlane.start();
    controlPlane.routes.push(hello, chat);
    gateway = await startGateway({ controlPlane, env: { DEPLOYMENTS_DOMAIN: DOMAIN } });
    key = gateway.orgAccess.issue(hello.workspace_id);
    gateway.orgAccess.keys.get(key.key)?.workspaceIds.push(chat.workspace_id);
    await gateway.untilReady();
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  function answer(req: IncomingMessage, res: ServerResponse): void {
    if (req.url === '/stream') {
      res.writeHead(200, { 'content-type': 'text/event-stream', location: '/threads/T/runs/R/stream' });
      res.write('event: a\n\n', () => res.end('event: b\n\n'));
    } else sendJson(res, 200, { path: req.url, headers: req.headers });
  }

  /** Sends `host` as it is: no name of these tests can be resolved. */
  async function ask(
    host: string,
    path = '/custom/hello',
    { headers = { 'x-api-key': key.key }, method = 'GET' }: { headers?: Record<string, string>; method?: string } = {},
  ): Promise<Answer> {
    const { hostname, port } = new URL(gateway.url);
    const req = request({ hostname, port, path, method, headers: { host, ...headers } }).end();
    const [response] = (await once(req, 'response')) as [IncomingMessage];
    const body = JSON.parse((await readRequestBody(response)).toString()) as Answer['body'];
    return { status: response.statusCode as number, headers: response.headers, body };
  }

  const principalOf = ({ body }: Answer) => body.headers['x-runyard-principal'];

  it('leads to the deployment at the root of the host, and the deployment is told so', async () => {
    const { status, body } = await ask(`hello.${DOMAIN}:2024`, '/custom/hello?x=1');
    expect([status, body.path]).toEqual([200, '/custom/hello?x=1']);
    expect(body.headers).toMatchObject({ 'x-forwarded-host': `hello.${DOMAIN}:2024`, 'x-forwarded-proto': 'http' });
    expect(body.headers['x-forwarded-prefix']).toBeUndefined();
    expect(body.headers['x-runyard-principal']).toContain(hello.deployment_id);
  });

  it.each([
    ['a port', `hello.${DOMAIN}:2024`],
    ['capitals', `Hello.Agents.EXAMPLE.com`],
    ['the dot of the root', `hello.${DOMAIN}.`],
    ['the dot of the root and a port', `hello.${DOMAIN}.:8443`],
    ['the id in place of the slug', `${hello.deployment_id}.${DOMAIN}`],
  ])('is known with %s', async (_, host) => {
    expect(principalOf(await ask(host))).toContain(hello.deployment_id);
  });

  it('is known from the target where that is a whole URL, whatever Host says', async () => {
    const absolute = await ask('127.0.0.1', `http://hello.${DOMAIN}:2024/custom/hello?x=1`);
    expect(principalOf(absolute)).toContain(hello.deployment_id);
    expect(absolute.body).toMatchObject({ path: '/custom/hello?x=1' });
    expect(absolute.body.headers).toMatchObject({
      host: `hello.${DOMAIN}:2024`,
      'x-forwarded-host': `hello.${DOMAIN}:2024`,
    });
    const platform = await ask(`hello.${DOMAIN}`, `http://platform.example/v2/deployments`);
    expect(platform.body).toMatchObject({ service: 'control-plane', url: '/v2/deployments' });
  });

  it('may be a name of its own, which control-plane has published', async () => {
    expect(principalOf(await ask('Chat.acme.test:443'))).toContain(chat.deployment_id);
    expect(principalOf(await ask(`chat.${DOMAIN}`))).toContain(chat.deployment_id);
  });

  it.each(['127.0.0.1:2024', '[::1]:2024', 'localhost', DOMAIN, `${DOMAIN}.:2024`, 'elsewhere.test', ''])(
    'leaves requests to %j to the paths of the platform',
    async (host) => {
      expect((await ask(host, '/v2/deployments')).body).toMatchObject({ service: 'control-plane' });
      const below = await ask(host, '/deployments/hello/threads');
      expect(below.body).toMatchObject({ path: '/threads', headers: { 'x-forwarded-prefix': '/deployments/hello' } });
      expect((await ask(host, '/custom/hello')).status).toBe(404);
    },
  );

  it.each(['a/public?', 'a?x', 'a#x', 'u@a', `hello.${DOMAIN}:80/public?`, 'a b', '%61'])(
    'is refused where it is more than a host: %j would become a path in addresses that are made of it',
    async (host) => {
      const refused = await ask(host, '/deployments/hello/threads');
      expect(refused).toMatchObject({ status: 400, body: { detail: 'The Host header is not a host' } });
    },
  );

  it.each(['/v2/deployments', '/api/v1/orgs', '/v1/x', '/auth/x', '/deployments/chat/threads', '/metrics', '/ok'])(
    'has no path of the platform: %s is the deployment’s own',
    async (path) => {
      expect((await ask(`hello.${DOMAIN}`, path)).body.path).toBe(path);
    },
  );

  it.each([`nobody.${DOMAIN}`, `a.hello.${DOMAIN}`, `.${DOMAIN}`])(
    'that no deployment has is answered as an unknown deployment: %s',
    async (host) => {
      const unknown = await ask(host);
      expect([unknown.status, unknown.body]).toEqual([404, { detail: 'Deployment not found' }]);
      expect((await ask(host, '/ok', { headers: {} })).status).toBe(404);
      expect((await ask(host, '/v2/deployments')).status).toBe(404);
      expect((await ask(host, '/threads', { headers: {} })).status).toBe(401);
    },
  );

  it('tells a stranger no more than the path does: a deployment of others is as unknown as one that does not exist', async () => {
    const stranger = gateway.orgAccess.issue(deploymentRoute({ upstreams: [] }).workspace_id);
    const [foreign, unknown] = await Promise.all(
      [`hello.${DOMAIN}`, `nobody.${DOMAIN}`].map((host) =>
        ask(host, '/threads', { headers: { 'x-api-key': stranger.key, 'x-request-id': 'same' } }),
      ),
    );
    const { date: _, ...headers } = foreign?.headers ?? {};
    expect(foreign?.status).toBe(404);
    expect(unknown).toMatchObject({ status: 404, body: foreign?.body, headers });
  });

  it('means a slug alone: the name of a deployment of one’s own is no host', async () => {
    const named = deploymentRoute({
      upstreams: [upstream.url],
      name: `nobody.${DOMAIN}`,
      workspace_id: hello.workspace_id,
    });
    gateway.controlPlane.routes.push(named);
    await gateway.refreshRoutes();
    expect((await ask(`nobody.${DOMAIN}`)).status).toBe(404);
  });

  it('keeps keyless paths open, errors readable for pages of other origins, and preflights with the deployment', async () => {
    expect((await ask(`hello.${DOMAIN}`, '/.well-known/agent-card.json', { headers: {} })).status).toBe(200);
    const origin = 'https://page.example';
    const refused = await ask(`hello.${DOMAIN}`, '/threads', { headers: { origin } });
    expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([401, '*']);
    const preflight = { origin, 'access-control-request-method': 'POST' };
    expect((await ask(`hello.${DOMAIN}`, '/threads', { headers: preflight, method: 'OPTIONS' })).body.path).toBe(
      '/threads',
    );
  });

  it('refuses dot segments as paths do', async () => {
    expect((await ask(`hello.${DOMAIN}`, '/ok/../threads', { headers: {} })).status).toBe(404);
  });

  it('streams, and leaves Location as the deployment sends it, which is right at the root', async () => {
    const { hostname, port } = new URL(gateway.url);
    const headers = { host: `hello.${DOMAIN}`, 'x-api-key': key.key };
    const req = request({ hostname, port, path: '/stream', headers }).end();
    const [response] = (await once(req, 'response')) as [IncomingMessage];
    const location = new URL(response.headers.location as string, `http://hello.${DOMAIN}/runs/stream`);
    expect(location.pathname).toBe('/threads/T/runs/R/stream');
    expect((await readRequestBody(response)).toString()).toBe('event: a\n\nevent: b\n\n');
  });

  it('takes websockets', async () => {
    let forwarded: IncomingMessage | undefined;
    upstream.server.once('upgrade', (req, socket) => {
      forwarded = req;
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.on('data', (chunk: Buffer) => socket.end(`you said ${chunk}`));
    });
    const client = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const head = ['GET /ws?x=1 HTTP/1.1', `Host: hello.${DOMAIN}:1`, `X-Api-Key: ${key.key}`, 'Connection: Upgrade'];
    client.write(`${[...head, 'Upgrade: echo'].join('\r\n')}\r\n\r\nearly`);
    const received = (await readRequestBody(client as unknown as IncomingMessage)).toString();
    expect(received).toMatch(/^HTTP\/1\.1 101 [\s\S]*you said early$/);
    expect([forwarded?.url, forwarded?.headers['x-forwarded-host']]).toEqual(['/ws?x=1', `hello.${DOMAIN}:1`]);
  });

  it('is the one that a proxy in front names, where proxies are believed', async () => {
    const trusting = await startGateway({
      orgAccess: gateway.orgAccess,
      controlPlane: gateway.controlPlane,
      env: { DEPLOYMENTS_DOMAIN: DOMAIN, TRUST_FORWARDED_HEADERS: 'true' },
    });
    try {
      await trusting.untilReady();
      const headers = { 'x-api-key': key.key, 'x-forwarded-host': `hello.${DOMAIN}`, 'x-forwarded-proto': 'https' };
      const believed = await fetch(`${trusting.url}/custom/hello`, { headers });
      expect(await believed.json()).toMatchObject({
        headers: { 'x-forwarded-host': `hello.${DOMAIN}`, 'x-forwarded-proto': 'https' },
      });
      expect((await fetch(`${gateway.url}/custom/hello`, { headers })).status).toBe(404);
    } finally {
      await trusting.stop();
    }
  });

  it('is not known before the routes are, and gets the same answer as the path', async () => {
    const controlPlane = await FakeControlPlane.start();
    controlPlane.isUnavailable = true;
    const starting = await startGateway({ controlPlane, env: { DEPLOYMENTS_DOMAIN: DOMAIN } });
    const { hostname, port } = new URL(starting.url);
    try {
      const req = request({ hostname, port, path: '/ok', headers: { host: `hello.${DOMAIN}` } }).end();
      const [response] = (await once(req, 'response')) as [IncomingMessage];
      expect([response.statusCode, (await readRequestBody(response)).toString()]).toEqual([
        503,
        '{"detail":"Deployments are not known yet"}',
      ]);
    } finally {
      await starting.close();
    }
  });
});
