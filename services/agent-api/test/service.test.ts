import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { startServiceProcess, waitFor } from '@runyard/test-kit';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await startDeployment();
});
afterAll(() => deployment?.close());

describe('the service', () => {
  it('is alive and ready', async () => {
    for (const path of ['/ok', '/', '/ok?check_db=0'])
      expect((await ask(deployment.url + path)).json).toEqual({ ok: true, services: {} });
    expect((await ask(`${deployment.url}/?check_db=1`)).json).toMatchObject({ services: { redis: 'ok' } });
    expect((await ask(`${deployment.url}/ok?check_db=1`)).json).toEqual({
      ok: true,
      services: { database: 'ok', redis: 'ok', js_runtime: 'ok', core_api: 'ok' },
    });
  });

  it('reports the level it matches, its own version in a field of its own, and its features', async () => {
    expect((await ask(`${deployment.url}/info`)).json).toMatchObject({
      version: expect.stringMatching(/^0\.\d+\.\d+$/),
      runyard_version: expect.any(String),
      flags: { assistants: true, crons: true },
    });
  });

  it('describes itself', async () => {
    const { json } = await ask(`${deployment.url}/openapi.json`);
    const { info, paths } = json as { info: { version: string }; paths: Record<string, unknown> };
    expect(info.version).toMatch(/^0\.\d+\.\d+$/);
    expect(Object.keys(paths)).toContain('/threads/{thread_id}/runs/stream');
    expect((await ask(`${deployment.url}/docs`)).headers['content-type']).toContain('text/html');
  });

  it('reports queue, workers and requests by route', async () => {
    await deployment.client.runs.create(null, 'echo', { input: {} });
    await ask(`${deployment.url}/assistants/nope`);
    const { text } = await ask(`${deployment.url}/metrics`);
    expect(text).toMatch(/^lg_api_num_pending_runs\{.*\} 1$/m);
    expect(text).toMatch(/^lg_api_workers_max\{.*\} 0$/m);
    expect(text).toMatch(/^lg_api_pg_pool_max\{.*\} \d+$/m);
    expect(text).toMatch(/^lg_api_http_requests_total\{.*path="\/assistants\/\{assistant_id\}".*\} 1$/m);
  });

  it('lets pages of any origin call, without cookies', async () => {
    const { headers } = await ask(`${deployment.url}/info`, { headers: { origin: 'https://studio.example' } });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-expose-headers']).toContain('content-location');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  it('answers unknown paths with JSON', async () => {
    expect(await ask(`${deployment.url}/nothing`)).toMatchObject({ status: 404, json: { detail: 'Not Found' } });
    expect(await ask(`${deployment.url}/threads/search`, { method: 'PUT', body: {} })).toMatchObject({
      status: 405,
      json: { detail: 'Method Not Allowed' },
    });
  });

  it('publishes runs to other services over the event bus', async () => {
    await deployment.client.runs.create(null, 'echo', { input: {} });
    await waitFor(async () => (await deployment.pool.query('SELECT 1 FROM outbox')).rowCount === 0, {
      what: 'an empty outbox',
    });
  });

  it('continues after a graph ended its process', async () => {
    const { thread_id } = await deployment.client.threads.create({ graphId: 'echo' });
    await deployment.client.threads.updateState(thread_id, { values: { messages: [] }, asNode: 'echo' });
    for (const pid of await childrenOf(deployment.service.pid)) process.kill(pid, 'SIGKILL');
    await waitFor(async () => (await ask(`${deployment.url}/threads/${thread_id}/state`)).status === 200);
  });
});

/** Returns the process ids of the children of a process. */
async function childrenOf(pid: number): Promise<number[]> {
  const { readFile } = await import('node:fs/promises');
  return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(/\s+/).filter(Boolean).map(Number);
}

describe('with a platform', () => {
  let keys: Server;
  let privateKey: CryptoKey;
  let guarded: TestDeployment;
  beforeAll(async () => {
    const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519' });
    privateKey = pair.privateKey;
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'EdDSA', use: 'sig' };
    keys = createServer((_req, res) => res.end(JSON.stringify({ keys: [jwk] }))).listen(0, '127.0.0.1');
    await new Promise((resolve) => keys.once('listening', resolve));
    const { port } = keys.address() as AddressInfo;
    guarded = await startDeployment({
      env: {
        RUNYARD_AUTH: '',
        PLATFORM_JWKS_URL: `http://127.0.0.1:${port}/`,
        DEPLOYMENT_ID: 'mine',
        LANGGRAPH_UI: '{"echo":"./ui/components.jsx"}',
        UI_BASE_URL: 'https://parts.example.com/d/',
      },
    });
  });
  afterAll(async () => {
    await guarded?.close();
    keys?.close();
  });

  const token = (audience: string) =>
    new SignJWT({
      organization_id: '00000000-0000-4000-8000-000000000001',
      kind: 'service_key',
      organization_role: 'user',
      permissions: ['runs:read'],
    })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'k1' })
      .setSubject('ada')
      .setAudience(audience)
      .setExpirationTime('60s')
      .sign(privateKey);

  it('callers need a token made for this very deployment, and may do what their role permits', async () => {
    const info = async (headers: Record<string, string>) => (await ask(`${guarded.url}/info`, { headers })).status;
    expect(await info({})).toBe(401);
    expect(await info({ 'x-runyard-principal': await token('deployment:other') })).toBe(401);
    expect(await info({ 'x-runyard-principal': await token('deployment:mine') })).toBe(200);
    const headers = { 'x-runyard-principal': await token('deployment:mine') };
    expect((await ask(`${guarded.url}/threads/search`, { headers, body: {} })).status).toBe(200);
    expect((await ask(`${guarded.url}/threads`, { headers, body: {} })).status).toBe(403);
    expect((await ask(`${guarded.url}/ok`)).status).toBe(200);
    expect((await ask(`${guarded.url}/docs`)).status).toBe(200);
    expect((await ask(`${guarded.url}/ui/echo/entrypoint.js`)).status).toBe(200);
    expect((await ask(`${guarded.url}/ui/echo`, { body: { name: 'counter' } })).status).toBe(401);
    expect((await ask(`${guarded.url}/ui/echo`, { headers, body: { name: 'counter' } })).status).toBe(200);
  });

  it('components are named by a host of their own where one is configured, however the page asked', async () => {
    const headers = {
      'x-runyard-principal': await token('deployment:mine'),
      'x-forwarded-host': 'outer',
      'x-forwarded-prefix': '/deployments/d',
    };
    const { text } = await ask(`${guarded.url}/ui/echo`, { headers, body: { name: 'counter' } });
    expect(text).toContain('href="https://parts.example.com/d/ui/echo/entrypoint.css"');
    expect(text).toContain('src="https://parts.example.com/d/ui/echo/entrypoint.js"');
    expect(text).not.toContain('outer');
  });
});

describe('callers', () => {
  it('are admitted without one only when the configuration says so explicitly', async () => {
    const service = await startServiceProcess({
      entry: fileURLToPath(new URL('../src/main.ts', import.meta.url)),
      env: { PROJECT_DIR: '.', REDIS_URI: 'redis://127.0.0.1:1', DATABASE_URI: 'postgres://127.0.0.1:1/x' },
      readyPath: null,
    });
    expect((await service.exited).code).toBe(78);
    expect(service.output()).toContain('PLATFORM_JWKS_URL');
  });
});
