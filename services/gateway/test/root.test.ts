import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeploymentRoute, RootFile } from '@runyard/contracts';
import { clientAddressHeaders } from '@runyard/service-kit';
import {
  deploymentRoute,
  FakeControlPlane,
  type FakeKey,
  type FakeServer,
  INTERNAL_TOKEN,
  readRequestBody,
  sendJson,
  startFakeServer,
} from '@runyard/test-kit/fake-platform';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from './start-gateway.ts';

/** A user that runs code of projects, without an entry in the system's list. */
const PROJECT_USER = 100_007;

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: { service?: string; url?: string; detail?: string; headers: Record<string, string> };
}

interface Question {
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string;
}

/** A gateway before two deployments, of which one may stand at its root, and what reached them. */
class RootPlatform {
  readonly folder = mkdtempSync(join(tmpdir(), 'runyard-root-'));
  readonly reached: string[] = [];
  gateway!: TestGateway;
  upstream!: FakeServer;
  key!: FakeKey;
  root!: DeploymentRoute;
  other!: DeploymentRoute;

  async open({ hasCustomAuth = false, env = {} }: { hasCustomAuth?: boolean; env?: Record<string, string> } = {}) {
    this.upstream = await startFakeServer(async (req, res) => {
      this.reached.push(`${req.method} ${req.url}`);
      await readRequestBody(req);
      sendJson(res, 200, { service: 'deployment', url: req.url, headers: req.headers });
    });
    const upstreams = [this.upstream.url];
    this.root = deploymentRoute({ upstreams, slug: 'mine', has_custom_auth: hasCustomAuth });
    this.other = deploymentRoute({ upstreams, slug: 'other', workspace_id: this.root.workspace_id });
    const controlPlane = await FakeControlPlane.start();
    controlPlane.routes.push(this.root, this.other);
    this.gateway = await startGateway({
      controlPlane,
      env: { DEPLOYMENTS_DOMAIN: 'localhost', ROOT_FILE: join(this.folder, 'root.json'), ...env },
    });
    this.key = this.gateway.orgAccess.issue(this.root.workspace_id);
    await this.gateway.untilReady();
    return this;
  }

  /** Tells the gateway what stands at its root; with a key, requests of this machine need none. */
  write({ withKey }: { withKey: boolean }): void {
    const content: RootFile = { deployment_id: this.root.deployment_id, ...(withKey && { api_key: this.key.key }) };
    writeFileSync(join(this.folder, 'root.json'), JSON.stringify(content));
  }

  async ask(path: string, { method = 'GET', headers = {}, body = '' }: Question = {}): Promise<Answer> {
    const { hostname, port } = new URL(this.gateway.url);
    const req = request({ hostname, port, path, method, headers, agent: false }).end(body);
    const [response] = (await once(req, 'response')) as [IncomingMessage];
    const text = (await readRequestBody(response)).toString();
    const parsed = response.headers['content-type']?.startsWith('application/json') ? JSON.parse(text) : { text };
    return { status: response.statusCode as number, headers: response.headers, body: parsed };
  }

  /** Sends bytes as they are; returns the status. */
  async askRaw(text: string): Promise<number> {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(this.gateway.url).port) });
    socket.write(text);
    let answer = '';
    for await (const chunk of socket.setEncoding('latin1')) answer += chunk;
    return Number(answer.split(' ')[1]);
  }

  async close(): Promise<void> {
    await this.gateway.close();
    await this.upstream.close();
    rmSync(this.folder, { recursive: true });
  }
}

const principalOf = ({ body }: Answer) => body.headers['x-runyard-principal'];

describe('a deployment at the root of a machine of one person', () => {
  let platform: RootPlatform;
  let ask: RootPlatform['ask'];
  let ofKey: string;
  beforeAll(async () => {
    platform = await new RootPlatform().open({ env: { ROOT_ORIGINS: 'https://app.example' } });
    ask = (path, question) => platform.ask(path, question);
    ofKey = `token for deployment:${platform.root.deployment_id} of ${platform.key.keyId}`;
  });
  afterAll(() => platform.close());
  beforeEach(() => {
    platform.reached.length = 0;
  });

  it('is not there before the platform has deployed it: the root is the platform’s', async () => {
    expect((await ask('/')).headers['content-type']).toBe('text/html; charset=utf-8');
    expect((await ask('/ok')).body).toEqual({ ok: true, services: {} });
    expect(await ask('/threads')).toMatchObject({ status: 404 });
    expect(await ask('/docs')).toMatchObject({ body: { service: 'control-plane' } });
    platform.write({ withKey: true });
    expect(await ask('/threads')).toMatchObject({ status: 200, body: { service: 'deployment' } });
  });

  it('gets requests without a key as the holder of the platform’s key, as they came', async () => {
    const answer = await ask('/threads/a%2Fb?x=%20', { method: 'POST', body: '{}' });
    expect(answer).toMatchObject({ status: 200, body: { url: '/threads/a%2Fb?x=%20' } });
    expect(principalOf(answer)).toBe(ofKey);
    expect(answer.body.headers['x-api-key']).toBeUndefined();
    expect(answer.body.headers['x-forwarded-prefix']).toBeUndefined();
    expect(principalOf(await ask('/threads', { headers: { 'x-api-key': '' } }))).toBe(ofKey);
  });

  it('answers for itself at paths that the platform has too, and the gateway is asked elsewhere', async () => {
    for (const path of ['/', '/ok', '/ok?check_db=1', '/info', '/metrics', '/docs', '/openapi.json'])
      expect([path, (await ask(path)).body.service]).toEqual([path, 'deployment']);
    expect((await ask('/internal/ok?check_db=1')).body).toEqual({ ok: true, services: { routes: 'ok' } });
    expect(await ask('/internal/metrics')).toMatchObject({ status: 401 });
    const headers = { authorization: `Bearer ${INTERNAL_TOKEN}` };
    expect(await ask('/internal/metrics', { headers })).toMatchObject({ status: 200 });
    expect(await ask('/internal/routes')).toMatchObject({ status: 404 });
  });

  it('gives nobody without a key anything of the platform or of another deployment', async () => {
    for (const path of [
      '/v1/x',
      '/v2/deployments',
      '/api-host/v2/deployments',
      '/api/v1/x',
      '/v2/auth/providers',
      '/login',
    ])
      expect([path, principalOf(await ask(path))]).toEqual([path, undefined]);
    for (const path of ['threads', 'metrics'])
      expect(await ask(`/deployments/${platform.root.deployment_id}/${path}`)).toMatchObject({ status: 401 });
    expect(await ask('/deployments/other/threads')).toMatchObject({ status: 401 });
    expect(await ask('/threads', { headers: { host: 'other.localhost' } })).toMatchObject({ status: 401 });
    expect(platform.reached).toEqual([]);
  });

  it('cannot be left by its path: what is reached is the deployment, or nothing', async () => {
    for (const path of [
      '/v2/../v2/deployments',
      '/threads/../v2/deployments',
      '/threads/..%2fv2',
      '/%2e%2e/v2/x',
      '/./v2',
    ])
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    for (const path of ['/threads#/v2', '/v2\\deployments'])
      expect([
        path,
        await platform.askRaw(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
      ]).toEqual([path, 400]);
    for (const path of ['//v2/deployments', '/%762/deployments', '/V2/deployments', '/v2%2fdeployments'])
      expect([path, (await ask(path)).body]).toMatchObject([path, { service: 'deployment', url: path }]);
  });

  it('takes a key of another platform, which SDKs find in the environment, for none, and only from this machine', async () => {
    const ofAnother: OutgoingHttpHeaders[] = [
      { 'x-api-key': 'lsv2_pt_of_another_1' },
      { authorization: 'Bearer other' },
    ];
    for (const headers of ofAnother) {
      const answer = await ask('/threads', { headers: { origin: 'http://localhost:3000', ...headers } });
      expect(principalOf(answer)).toBe(ofKey);
      expect(answer.body.headers).not.toMatchObject(headers);
      for (const elsewhere of [
        { origin: 'https://evil.example' },
        { host: 'evil.example' },
        { 'x-real-ip': '203.0.113.9' },
      ])
        expect(await ask('/threads', { headers: { ...headers, ...elsewhere } })).toMatchObject({ status: 401 });
    }
    expect(await ask('/v2/deployments', { headers: ofAnother[0]! })).toMatchObject({ status: 401 });
    expect(principalOf(await ask('/threads', { headers: { 'x-api-key': platform.key.key } }))).toBe(ofKey);
    expect(platform.reached).toHaveLength(3);
  });

  it('is reached by pages of this machine, of Studio and of named origins, which ask before they call', async () => {
    for (const origin of ['http://localhost:3000', 'https://smith.langchain.com', 'https://app.example']) {
      expect(principalOf(await ask('/runs/stream', { method: 'POST', headers: { origin }, body: '{}' }))).toBe(ofKey);
      const headers = {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
        'access-control-request-private-network': 'true',
      };
      expect(await ask('/runs/stream', { method: 'OPTIONS', headers })).toMatchObject({ status: 200 });
    }
  });

  it('is not reached by pages of other sites: no plain form, no image, no preflight, no websocket', async () => {
    const page = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const refused = { status: 403, body: { detail: expect.stringContaining('--origin') } };
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const post = { method: 'POST', headers: { ...page, 'content-type': type }, body: '{"assistant_id":"agent"}' };
      const answer = await ask('/runs', post);
      expect(answer).toMatchObject(refused);
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
    for (const origin of ['null', 'https://smith.langchain.com.evil.example'])
      expect(await ask('/runs', { method: 'POST', headers: { origin } })).toMatchObject(refused);
    expect(await ask('/threads', { headers: { 'sec-fetch-site': 'cross-site' } })).toMatchObject(refused);
    const preflight = { ...page, 'access-control-request-method': 'POST' };
    expect(await ask('/runs', { method: 'OPTIONS', headers: preflight })).toMatchObject(refused);
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', ...page };
    expect(await ask('/threads/T/stream', { headers: upgrade })).toMatchObject({ status: 403 });
    expect(platform.reached).toEqual([]);
    expect(
      await ask('/threads/T/stream', { headers: { ...upgrade, ...{ origin: 'http://localhost' } } }),
    ).toMatchObject({
      status: 200,
    });
  });

  it('is reached with a key from every page, as below its path', async () => {
    const page = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const headers = { ...page, 'x-api-key': platform.key.key };
    expect(principalOf(await ask('/runs', { method: 'POST', headers, body: '{}' }))).toBe(ofKey);
    const preflight = {
      ...page,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type, x-api-key',
    };
    expect(await ask('/runs', { method: 'OPTIONS', headers: preflight })).toMatchObject({ status: 200 });
  });

  it('is not reached by the name of another host, however it is written', async () => {
    expect(await ask('/threads', { headers: { host: 'evil.example' } })).toMatchObject({ status: 401 });
    const end = '\r\nConnection: close\r\n\r\n';
    const attempts = {
      absolute: `GET http://evil.example/threads HTTP/1.1\r\nHost: localhost${end}`,
      twice: `GET /threads HTTP/1.1\r\nHost: localhost\r\nHost: evil.example${end}`,
      'twice, otherwise': `GET /threads HTTP/1.1\r\nHost: evil.example\r\nHost: localhost${end}`,
      'without one': `GET /threads HTTP/1.0${end}`,
      'with a user': `GET /threads HTTP/1.1\r\nHost: localhost@evil.example${end}`,
      forwarded: `GET /threads HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Host: evil.example${end}`,
      tunnelled: `GET /threads HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.9${end}`,
      'of two origins': `POST /runs HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example${end}`,
    };
    for (const [name, text] of Object.entries(attempts))
      expect([name, [400, 401, 403].includes(await platform.askRaw(text))]).toEqual([name, true]);
    expect(platform.reached).toEqual([]);
    expect(await platform.askRaw(`GET http://localhost/threads HTTP/1.1\r\nHost: evil.example${end}`)).toBe(200);
  });

  it('needs no key at its own host either, where its pages have an origin of their own', async () => {
    const host = `mine.localhost:${new URL(platform.gateway.url).port}`;
    const answer = await ask('/threads', { headers: { host, origin: `http://${host}` } });
    expect(principalOf(answer)).toBe(ofKey);
    expect(await ask('/threads', { headers: { host, origin: 'https://evil.example' } })).toMatchObject({ status: 403 });
  });

  it('is not reached without a key by a service of the platform that calls for another machine', async () => {
    const from = (address: string) => ask('/threads', { headers: clientAddressHeaders(INTERNAL_TOKEN, address) });
    expect(await from('203.0.113.9')).toMatchObject({ status: 401 });
    expect(principalOf(await from('127.0.0.1'))).toBe(ofKey);
  });

  it('has its pages in a sandbox, and sets no cookie: the sign-in pages have the same origin', async () => {
    expect((await ask('/threads')).headers['content-security-policy']).toMatch(/^sandbox /);
  });

  it('leaves the root when it is deleted', async () => {
    const { routes } = platform.gateway.controlPlane;
    const [route] = routes.splice(0, 1);
    await platform.gateway.refreshRoutes();
    expect((await ask('/')).headers['content-type']).toBe('text/html; charset=utf-8');
    expect(await ask('/threads')).toMatchObject({ status: 404 });
    routes.unshift(route as DeploymentRoute);
    await platform.gateway.refreshRoutes();
  });
});

describe('a deployment at the root where each request needs a key', () => {
  let platform: RootPlatform;
  beforeAll(async () => {
    platform = await new RootPlatform().open();
    platform.write({ withKey: false });
  });
  afterAll(() => platform.close());

  it('is refused to programs and pages without one', async () => {
    for (const headers of [{}, { origin: 'http://localhost:3000' }, { host: 'localhost' }] as OutgoingHttpHeaders[])
      expect(await platform.ask('/threads', { headers })).toMatchObject({ status: 401 });
    const wrong = await platform.ask('/threads', { headers: { 'x-api-key': 'wrong' } });
    expect(wrong).toMatchObject({ status: 401, body: { detail: 'Invalid API key' } });
    const headers = { 'x-api-key': platform.key.key };
    expect(await platform.ask('/threads', { headers })).toMatchObject({ status: 200 });
  });

  it('sends no MCP client for tokens, which nobody issues for the root', async () => {
    const { status, headers } = await platform.ask('/mcp', { method: 'POST' });
    expect([status, headers['www-authenticate']]).toEqual([401, undefined]);
    const atHost = await platform.ask('/mcp', { method: 'POST', headers: { host: 'mine.localhost' } });
    expect(atHost.headers['www-authenticate']).toContain('resource_metadata=');
  });
});

it('keys of another platform are no failures to authenticate where none is needed, and are elsewhere', async () => {
  const env = { RATE_LIMIT_FAILURES_RPS: '0.001', RATE_LIMIT_FAILURES_BURST: '2' };
  const platform = await new RootPlatform().open({ env });
  try {
    platform.write({ withKey: true });
    const ask = (path: string, origin: string) =>
      platform.ask(path, { headers: { origin, 'x-api-key': 'lsv2_pt_of_another_1' } }).then(({ status }) => status);
    for (let n = 0; n < 4; n += 1) expect(await ask('/threads', 'http://localhost:3000')).toBe(200);
    const ofForeignPage = [];
    for (let n = 0; n < 4; n += 1) ofForeignPage.push(await ask('/threads', 'https://evil.example'));
    expect(ofForeignPage).toEqual([401, 401, 429, 429]);
    expect(await ask('/threads', 'http://localhost:3000')).toBe(200);
  } finally {
    await platform.close();
  }
});

describe('a deployment at the root with an auth handler of its own', () => {
  let platform: RootPlatform;
  beforeAll(async () => {
    platform = await new RootPlatform().open({ hasCustomAuth: true });
    platform.write({ withKey: true });
  });
  afterAll(() => platform.close());

  it('asks its handler about requests without a key, and about those of its users', async () => {
    const ofAnother = await platform.ask('/threads', { headers: { 'x-api-key': 'lsv2_pt_of_another_1' } });
    expect([ofAnother.status, ofAnother.body.headers['x-api-key'], principalOf(ofAnother)]).toEqual([
      200,
      undefined,
      undefined,
    ]);
    for (const headers of [{}, { authorization: 'Bearer of-ada' }] as OutgoingHttpHeaders[]) {
      const answer = await platform.ask('/threads', { headers });
      expect(answer).toMatchObject({ status: 200, body: { headers } });
      expect(principalOf(answer)).toBeUndefined();
    }
    expect(await platform.ask('/runs', { headers: { origin: 'https://evil.example' } })).toMatchObject({ status: 403 });
  });

  it('is asked at its own host about users who show what it alone knows, as where nothing stands at the root', async () => {
    const headers = { cookie: 'session=of-ada', origin: 'https://app.of-ada.example', host: 'mine.localhost' };
    const answer = await platform.ask('/threads', { headers });
    expect([answer.status, principalOf(answer)]).toEqual([200, undefined]);
    expect(await platform.ask('/threads', { headers: { ...headers, host: 'localhost' } })).toMatchObject({
      status: 403,
    });
  });

  it('is told by Studio as whom it calls', async () => {
    const headers = { 'x-auth-scheme': 'langsmith', origin: 'https://smith.langchain.com' };
    expect(principalOf(await platform.ask('/threads', { headers }))).toContain(platform.key.keyId);
    const foreign = { ...headers, origin: 'https://evil.example' };
    expect(await platform.ask('/threads', { headers: foreign })).toMatchObject({ status: 403 });
  });
});

describe.runIf(process.geteuid?.() === 0)('code of projects that runs as users of its own', () => {
  let platform: RootPlatform;
  beforeAll(async () => {
    platform = await new RootPlatform().open({ env: { PROJECT_USERS: '100000-999999999' } });
    platform.write({ withKey: true });
  });
  afterAll(() => platform.close());

  /** Runs a program with a socket to the gateway as a user; returns what it prints. */
  async function runAs(uid: number, program: string): Promise<string> {
    const { port } = new URL(platform.gateway.url);
    const code = `const net = require('node:net'); const port = ${port}; ${program}`;
    const child = spawn(process.execPath, ['-e', code], {
      uid,
      gid: uid,
      cwd: '/',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    for await (const chunk of child.stdout) output += chunk;
    return output.trim();
  }

  const REQUEST = JSON.stringify('GET /threads HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  const askFrom = (options: string) =>
    `net.connect(${options}).once('data', (data) => console.log(String(data).split(' ')[1])).write(${REQUEST});`;

  it.each([
    '{ port, host: "127.0.0.1" }',
    '{ port, host: "::ffff:127.0.0.1", family: 6 }',
    '{ port, host: "127.0.0.1", localAddress: "127.0.0.9" }',
  ])('needs a key at the root, unlike the person who started the platform, by %s', async (options) => {
    expect(await runAs(PROJECT_USER, askFrom(options))).toBe('401');
    expect(await runAs(0, askFrom(options))).toBe('200');
    expect(await runAs(65_534, askFrom(options))).toBe('200');
  });

  it('gets nothing by closing its socket before anybody looks whose it is', async () => {
    platform.reached.length = 0;
    await runAs(
      PROJECT_USER,
      `for (let n = 0; n < 50; n += 1) {
        const socket = net.connect({ port, host: '127.0.0.1' }, () => {
          socket.write(${REQUEST});
          if (n % 2) socket.resetAndDestroy(); else socket.destroy();
        });
      }`,
    );
    await runAs(PROJECT_USER, askFrom('{ port, host: "127.0.0.1" }'));
    expect(platform.reached).toEqual([]);
  });
});
