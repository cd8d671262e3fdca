import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import type { DeploymentRoute } from '@runyard/contracts';
import { ADDRESS_PROOF_HEADER, clientAddressHeaders } from '@runyard/service-kit';
import {
  deploymentRoute,
  FakeControlPlane,
  type FakeServer,
  type FakeSession,
  INTERNAL_TOKEN,
  readRequestBody,
  sendJson,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

const CONSOLE_HOST = 'console.localhost';
const CONSOLE_URL = `http://${CONSOLE_HOST}:2024`;
const COOKIES = {
  ofConsole:
    'runyard_console=rys_c; __Host-runyard_console=rys_d; runyard_console_sign_in=s; __Host-runyard_console_sign_in=t',
  ofPlatform: 'runyard_session=rys_p; __Host-runyard_session=rys_q; runyard_second_factor=f; __Host-runyard_oauth=o',
  others: 'a=b; c=d',
};
const ALL_COOKIES = Object.values(COOKIES).join('; ');

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: { service?: string; url?: string; method?: string; body?: string; headers: Record<string, string> };
}

let gateway: TestGateway;
let console_: FakeServer;
let upstream: FakeServer;
let session: FakeSession;
let named: DeploymentRoute;
let customised: DeploymentRoute;

beforeAll(async () => {
  console_ = await startFakeServer(async (req, res) => {
    if (req.url === '/api/events') {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: one\n\n');
      return;
    }
    const body = (await readRequestBody(req)).toString();
    res.setHeader('set-cookie', ['runyard_console=rys_new; Path=/; HttpOnly', 'runyard_console_sign_in=; Max-Age=0']);
    res.setHeader('content-security-policy', "default-src 'self'");
    sendJson(res, 200, { service: 'console', method: req.method, url: req.url, headers: req.headers, body });
  });
  upstream = await startFakeServer((req, res) => {
    res.setHeader('set-cookie', ['runyard_console=evil', '__Host-runyard_console=evil; Path=/; Secure', 'mine=1']);
    sendJson(res, 200, { service: 'deployment', url: req.url, headers: req.headers });
  });
  named = deploymentRoute({ upstreams: [upstream.url], slug: 'console' });
  customised = deploymentRoute({ upstreams: [upstream.url], slug: 'mine', custom_host: CONSOLE_HOST });
  const controlPlane = await FakeControlPlane.start();
  controlPlane.routes.push(named, customised);
  gateway = await startGateway({
    controlPlane,
    env: { DEPLOYMENTS_DOMAIN: 'localhost', CONSOLE_URL, CONSOLE_SERVICE_URL: console_.url },
  });
  session = gateway.orgAccess.signIn(named.workspace_id);
  await gateway.untilReady();
});
afterAll(async () => {
  await gateway?.close();
  await console_?.close();
  await upstream?.close();
});

async function ask(
  path: string,
  { headers = {}, method = 'GET', body = '' }: { headers?: OutgoingHttpHeaders; method?: string; body?: string } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(gateway.url);
  const options = { hostname, port, path, method, headers: { host: `${CONSOLE_HOST}:2024`, ...headers }, agent: false };
  const [response] = (await once(request(options).end(body), 'response')) as [IncomingMessage];
  const text = (await readRequestBody(response)).toString();
  const isJson = response.headers['content-type']?.startsWith('application/json');
  return { status: response.statusCode!, headers: response.headers, body: isJson ? JSON.parse(text) : { headers: {} } };
}

/** Sends bytes as they are, and returns the answer. */
async function askRaw(text: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(gateway.url).port) });
  socket.write(text);
  let answer = '';
  for await (const chunk of socket.setEncoding('latin1')) answer += chunk;
  return answer;
}

describe('the host of the console', () => {
  it.each([
    '/',
    '/ok',
    '/docs',
    '/openapi.json',
    '/auth/callback?code=a&state=b',
    '/login',
    '/v2/deployments',
    '/api/v1/orgs/current/info',
    '/deployments/mine/threads',
    '/.well-known/oauth-protected-resource/mcp',
    '/assets/index.js?v=1',
  ])('leads to the console with %s as it is', async (path) => {
    const { status, body } = await ask(path);
    expect([status, body.service, body.url]).toEqual([200, 'console', path]);
    expect(body.headers['x-forwarded-prefix']).toBeUndefined();
    expect(body.headers).toMatchObject({ 'x-forwarded-host': `${CONSOLE_HOST}:2024`, 'x-forwarded-proto': 'http' });
  });

  it.each(['Console.LOCALHOST', `${CONSOLE_HOST}:8443`, `${CONSOLE_HOST}.`, `${CONSOLE_HOST}.:2024`])(
    'is known as %s, before the deployments with that slug and with that host of their own',
    async (host) => {
      expect((await ask('/threads', { headers: { host } })).body.service).toBe('console');
    },
  );

  it.each(['localhost', 'mine.localhost', 'console.localhost.evil.example', 'xconsole.localhost', '127.0.0.1', ''])(
    'is not %j',
    async (host) => {
      expect((await ask('/v2/deployments', { headers: { host } })).body.service).not.toBe('console');
    },
  );

  it('is that of an absolute target, and never one that a client merely says was forwarded', async () => {
    const absolute = await ask(`http://${CONSOLE_HOST}/x?y=1`, { headers: { host: 'localhost' } });
    expect(absolute.body).toMatchObject({ service: 'console', url: '/x?y=1' });
    const away = await ask('http://localhost/v2/deployments', {});
    expect(away.body.service).toBe('control-plane');
    const forwarded = { host: 'localhost', 'x-forwarded-host': CONSOLE_HOST };
    expect((await ask('/v2/deployments', { headers: forwarded })).body.service).toBe('control-plane');
    const end = '\r\nConnection: close\r\n\r\n';
    for (const hosts of [
      `Host: ${CONSOLE_HOST}\r\nHost: localhost`,
      `Host: localhost@${CONSOLE_HOST}`,
      `Host: ${CONSOLE_HOST}/x`,
    ])
      expect([hosts, (await askRaw(`GET /v2/x HTTP/1.1\r\n${hosts}${end}`)).slice(9, 12)]).toEqual([hosts, '400']);
    expect(await askRaw(`GET http://user@${CONSOLE_HOST}/ HTTP/1.1\r\nHost: localhost${end}`)).not.toContain(
      '"console"',
    );
  });

  it.each([
    '/internal',
    '/internal/console/sessions',
    '/INTERNAL/ok',
    '/metrics',
    '/Metrics/',
    '/a/../metrics',
    '/%2e%2e/internal/ok',
  ])('does not serve %s, which services have for each other', async (path) => {
    expect(await ask(path)).toMatchObject({ status: 404 });
  });

  it('passes bodies, methods, and what the console answers, cookies too', async () => {
    const { body, headers } = await ask('/api/x', {
      method: 'POST',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
    });
    expect(body).toMatchObject({ method: 'POST', body: '{"a":1}' });
    expect(headers['set-cookie']).toEqual([
      'runyard_console=rys_new; Path=/; HttpOnly',
      'runyard_console_sign_in=; Max-Age=0',
    ]);
    expect(headers['content-security-policy']).toBe("default-src 'self'");
  });

  it('passes streams as they come, and no upgrade', async () => {
    const { hostname, port } = new URL(gateway.url);
    const sent = request({ hostname, port, path: '/api/events', headers: { host: CONSOLE_HOST }, agent: false }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const [chunk] = (await once(response, 'data')) as [Buffer];
    expect(chunk.toString()).toBe('event: one\n\n');
    sent.destroy();
    const websocket = `GET /x HTTP/1.1\r\nHost: ${CONSOLE_HOST}\r\nConnection: upgrade, close\r\nUpgrade: websocket\r\n\r\n`;
    expect(await askRaw(websocket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('is asked for as nobody: no key is checked, none is taken out, and no principal goes along', async () => {
    const asked = gateway.orgAccess.verifyRequests.length;
    const { key } = gateway.orgAccess.issue(named.workspace_id);
    const claimed = {
      'x-runyard-principal': 'forged',
      'x-api-key': key,
      authorization: `Bearer ${session.accessToken}`,
    };
    const { body } = await ask('/api/x', { headers: { ...claimed, cookie: `runyard_session=${session.token}` } });
    expect(body.headers['x-runyard-principal']).toBeUndefined();
    expect(body.headers).toMatchObject({ 'x-api-key': key, authorization: claimed.authorization });
    expect(gateway.orgAccess.verifyRequests.length).toBe(asked);
  });

  it('comes with the address of the client, proven, and with no other', async () => {
    const forged = { 'x-forwarded-for': '203.0.113.7', [ADDRESS_PROOF_HEADER]: 'a proof of the client' };
    const { body } = await ask('/api/x', { headers: forged });
    expect(body.headers).toMatchObject(clientAddressHeaders(INTERNAL_TOKEN, '127.0.0.1'));
  });

  it('counts requests to their address', async () => {
    expect((await ask('/')).headers['ratelimit-policy']).toContain('"address"');
  });
});

describe('the cookies of the console', () => {
  it('go there alone, and no other of the platform does', async () => {
    const { body } = await ask('/api/x', { headers: { cookie: ALL_COOKIES } });
    expect(body.headers.cookie).toBe(`${COOKIES.ofConsole}; ${COOKIES.others}`);
  });

  it('are not for names that only look like them', async () => {
    const cookie = 'runyard_console_x=1; RUNYARD_CONSOLE=2; __Secure-runyard_console=3; =runyard_console=4; a=b';
    expect((await ask('/api/x', { headers: { cookie } })).body.headers.cookie).toBe('a=b');
    const at = { host: 'localhost', cookie };
    for (const path of ['/api/v1/orgs/current/info', '/v2/deployments'])
      expect((await ask(path, { headers: at })).body.headers.cookie).toBe('a=b');
  });

  it('reach no service at the platform’s host, the sign-in neither, and no deployment', async () => {
    const headers = { host: 'localhost', cookie: ALL_COOKIES };
    const signIn = await ask('/auth/account', { headers });
    expect(signIn.body.headers.cookie).toBe(`${COOKIES.ofPlatform}; ${COOKIES.others}`);
    expect((await ask('/v2/deployments', { headers })).body.headers.cookie).toBe(COOKIES.others);
    expect((await ask('/v2/auth/start/1', { headers })).body.headers.cookie).toBe(
      `__Host-runyard_oauth=o; ${COOKIES.others}`,
    );
    const { key } = gateway.orgAccess.issue(customised.workspace_id);
    for (const [path, host] of [
      ['/deployments/mine/threads', 'localhost'],
      ['/threads', 'mine.localhost'],
    ] as const) {
      const { status, body } = await ask(path, { headers: { ...headers, host, 'x-api-key': key } });
      expect([path, status, body.headers.cookie]).toEqual([path, 200, COOKIES.others]);
    }
  });

  it('count for nobody at the platform’s host', async () => {
    const asked = gateway.orgAccess.verifyRequests.length;
    const cookie = `runyard_console=${session.token}`;
    const { body } = await ask('/v2/deployments', { headers: { host: 'localhost', cookie } });
    expect(body.headers['x-runyard-principal']).toBeUndefined();
    expect(gateway.orgAccess.verifyRequests.length).toBe(asked);
  });

  it('are set by no deployment, at its own host neither', async () => {
    const { key } = gateway.orgAccess.issue(customised.workspace_id);
    const { headers } = await ask('/threads', { headers: { host: 'mine.localhost', 'x-api-key': key } });
    expect(headers['set-cookie']).toEqual(['mine=1']);
  });
});

describe('a service of the platform that calls as a person', () => {
  const bearer = () => ({ host: 'localhost', authorization: `Bearer ${session.accessToken}` });

  it('names the address of the client, which it proves, and is believed in nothing else', async () => {
    const named = {
      ...clientAddressHeaders(INTERNAL_TOKEN, '203.0.113.7'),
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
    };
    const { body } = await ask('/v2/deployments', { headers: { ...bearer(), ...named } });
    expect(body.headers).toMatchObject({
      ...clientAddressHeaders(INTERNAL_TOKEN, '203.0.113.7'),
      'x-forwarded-host': 'localhost',
      'x-forwarded-proto': 'http',
    });
  });

  it.each([
    ['without a proof', { 'x-forwarded-for': '203.0.113.7' }],
    ['with the proof of another secret', clientAddressHeaders(`${INTERNAL_TOKEN}!`, '203.0.113.7')],
    [
      'with the proof of another address',
      { ...clientAddressHeaders(INTERNAL_TOKEN, '198.51.100.9'), 'x-forwarded-for': '203.0.113.7' },
    ],
    [
      'with more addresses than were proven',
      { ...clientAddressHeaders(INTERNAL_TOKEN, '203.0.113.7'), 'x-forwarded-for': '203.0.113.7, 10.0.0.1' },
    ],
    ['with a proof of what is no address', clientAddressHeaders(INTERNAL_TOKEN, 'unknown')],
  ])('is itself the client %s', async (_, headers) => {
    const { body } = await ask('/v2/deployments', { headers: { ...bearer(), ...headers } });
    expect(body.headers['x-forwarded-for']).toBe('127.0.0.1');
  });

  it('is held to the networks that the organization allows, by the address of the client', async () => {
    const { key } = gateway.orgAccess.issue(named.workspace_id);
    gateway.orgAccess.keys.get(key)!.allowedNetworks = ['203.0.113.0/24'];
    const own = { host: 'localhost', authorization: `Bearer ${key}` };
    const from = async (address: string) =>
      (await ask('/v2/deployments', { headers: { ...clientAddressHeaders(INTERNAL_TOKEN, address), ...own } })).status;
    expect([await from('203.0.113.7'), await from('198.51.100.9')]).toEqual([200, 403]);
  });
});

describe('a gateway with half a console', () => {
  const service = { CONSOLE_SERVICE_URL: 'http://127.0.0.1:1' };
  it.each([
    ['has no address for browsers', service, 'CONSOLE_SERVICE_URL needs CONSOLE_URL'],
    ['has no service', { CONSOLE_URL }, 'CONSOLE_URL needs CONSOLE_SERVICE_URL'],
    ['has a path', { ...service, CONSOLE_URL: 'https://console.example.com/x' }, 'CONSOLE_URL'],
    ['has a query', { ...service, CONSOLE_URL: 'https://console.example.com?x' }, 'CONSOLE_URL'],
    ['has no host name', { ...service, CONSOLE_URL: 'http://[::1]:2024' }, 'CONSOLE_URL must have the name of a host'],
    [
      'has the host of the platform',
      { ...service, CONSOLE_URL: 'http://LocalHost.:3000' },
      'CONSOLE_URL must have a host of its own',
    ],
  ])('does not start when it %s', async (_, env, problem) => {
    await expect(startGateway({ env })).rejects.toThrow(problem);
  });

  it('leads the host to nothing of a console without one', async () => {
    const without = await startGateway();
    const asked = await fetch(`${without.url}/v2/deployments`, { headers: { 'x-api-key': 'lsv2_sk_none' } });
    expect(asked.status).toBe(401);
    await without.close();
  });
});
