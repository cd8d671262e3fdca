import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { WebhookDelivery } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';

const PROJECT_DIR = fileURLToPath(new URL('../../../e2e/projects/web', import.meta.url));

const HTTP = JSON.stringify({
  app: './app.ts:app',
  disable_meta: true,
  configurable_headers: { includes: ['x-user'] },
});

let deployment: TestDeployment;
const call = (path: string, init: RequestInit = {}) => fetch(deployment.url + path, init);
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  call(path, { method: 'POST', body: JSON.stringify(body), headers });

describe('a project with an app of its own', () => {
  beforeAll(async () => {
    deployment = await startDeployment({ env: { PROJECT_DIR, LOG_LEVEL: 'http', LOG_JSON: 'true' } });
  });
  afterAll(() => deployment.close());

  it('serves its routes, shadowed ones too, and the routes of the server with its middleware around them', async () => {
    const hello = await call('/custom/hello?name=you');
    expect([hello.status, await hello.json()]).toEqual([200, { hello: 'you' }]);
    expect(await (await call('/threads/shadowed')).json()).toEqual({ shadowed: true });
    expect(await (await call('/custom/stream')).text()).toBe('line 0\nline 1\nline 2\n');
    const search = await post('/assistants/search', { limit: 1 });
    expect(search.headers.get('x-middleware')).toBe('seen');
    expect(search.headers.get('x-pagination-total')).toBe('3');
    expect(await search.json()).toHaveLength(1);
    const missing = await call('/nowhere');
    expect([missing.status, await missing.json()]).toEqual([404, { detail: 'Not Found' }]);
  });

  it('lets middleware answer instead of the server and change a body', async () => {
    expect(await (await post('/threads?interrupt', {})).json()).toEqual({ interrupted: true });
    const thread = (await (await post('/threads', { metadata: { by: 'client' } })).json()) as { metadata: object };
    expect(thread.metadata).toEqual({ by: 'middleware' });
  });

  it('gets webhooks whose URL is a path; the server behind it cannot be reached that way', async () => {
    const logOf = async (webhook: string) => {
      const created = await post('/runs', { assistant_id: 'echo', input: {}, webhook });
      const run = (await created.json()) as { run_id: string; thread_id: string };
      await (await deployment.worker.take()).succeed({ told: webhook });
      return waitFor(async () => {
        const log = await call(`/threads/${run.thread_id}/runs/${run.run_id}/webhook-deliveries`);
        const [delivery] = (await log.json()) as WebhookDelivery[];
        return delivery?.ended_at ? delivery : undefined;
      });
    };
    expect(await logOf('/custom/hooks')).toMatchObject({ status: 'delivered', attempts: [{ status_code: 204 }] });
    const received = await (await call('/custom/hooks')).json();
    expect(received).toMatchObject([{ status: 'success', values: { told: '/custom/hooks' } }]);
    const threads = await deployment.client.threads.count();
    // The server itself would act with the deployment's rights, for whoever created the run.
    expect(await logOf('/threads')).toMatchObject({ status: 'failed', attempts: [{ status_code: 403 }] });
    expect(await deployment.client.threads.count()).toBe(threads);
  });

  it('answers an exception of its code with a plain 500, and logs it', async () => {
    const failed = await call('/custom/error');
    expect([failed.status, await failed.json()]).toEqual([500, { detail: 'Internal Server Error' }]);
    await waitFor(() => deployment.service.output().includes('the reason is for the log alone'));
  });

  it('gives its code the deployment as its own server, and ends loops', async () => {
    expect(await (await call('/custom/assistants')).json()).toHaveLength(3);
    expect((await call('/custom/around')).status).toBe(500);
  });

  it("shows its code no header of the platform's own", async () => {
    const headers = {
      'x-runyard-principal': 'token',
      'x-runyard-exchange': 'y',
      'x-own': '1',
    };
    const seen = (await (await call('/custom/headers', { headers })).json()) as Record<string, string>;
    expect(Object.keys(seen).filter((name) => name.startsWith('x-runyard-'))).toEqual([]);
    expect(seen['x-own']).toBe('1');
  });

  it('gets the body of a request as that, whatever its method, and never as another request', async () => {
    const send = (method: string, path: string, body: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'transfer-encoding': 'chunked', 'content-type': 'application/json' };
        const sent = request(deployment.url + path, { method, headers }, (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode));
        });
        sent.once('error', reject).end(body);
      });
    const smuggled = 'GET /custom/error HTTP/1.1\r\nhost: x\r\nx-runyard-user: e30\r\n\r\n';
    const fails = () => deployment.service.output().split('the reason is for the log alone').length;
    const before = fails();
    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST']) {
      await send(method, '/custom/hello', smuggled);
      expect(await (await call('/custom/hello?name=you')).json(), method).toEqual({ hello: 'you' });
    }
    expect(fails()).toBe(before);
  });

  it('streams runs through the app, and notices a client that leaves', async () => {
    const { thread_id: threadId } = await deployment.client.threads.create();
    const abort = new AbortController();
    const stream = await fetch(`${deployment.url}/threads/${threadId}/runs/stream`, {
      method: 'POST',
      signal: abort.signal,
      body: JSON.stringify({ assistant_id: 'echo', input: {}, on_disconnect: 'cancel' }),
    });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    const [run] = await deployment.client.runs.list(threadId);
    abort.abort();
    await waitFor(async () => {
      const { rows } = await deployment.pool.query('SELECT status, cancel_action FROM run WHERE run_id = $1', [
        run!.run_id,
      ]);
      return rows[0].status !== 'pending' || rows[0].cancel_action !== null;
    });
  });

  it('limits bodies without buffering them, announced or not', async () => {
    const limited = { 'content-length': String(400 * 1024 * 1024) };
    const refused = await new Promise<number>((resolve, reject) => {
      const sent = request(`${deployment.url}/custom/hello`, { method: 'POST', headers: limited });
      sent.once('response', (response) => resolve(response.statusCode!));
      sent.once('error', reject);
      sent.flushHeaders();
    });
    expect(refused).toBe(413);
  });

  it('switches off what the project disables', async () => {
    const disabled = await call('/store/items?key=a&namespace=b');
    expect([disabled.status, await disabled.json()]).toEqual([404, { detail: 'Not Found' }]);
    const { paths } = (await (await call('/openapi.json')).json()) as { paths: object };
    expect(Object.keys(paths).filter((path) => path.startsWith('/store'))).toEqual([]);
  });

  it('admits pages of the origins that the project names', async () => {
    const allowed = await call('/info', { headers: { origin: 'https://page.example' } });
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://page.example');
    expect(allowed.headers.get('access-control-allow-credentials')).toBe('true');
    expect(allowed.headers.get('access-control-expose-headers')).toContain('content-location');
    const refused = await call('/info', { headers: { origin: 'https://other.example' } });
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('gives runs the headers the project names, and logs those it names for that', async () => {
    const headers = { 'x-user': 'ada', 'x-user-secret': 's', 'x-other': 'o', 'x-api-key': 'k' };
    const body = { assistant_id: 'echo', input: {}, config: { configurable: { 'x-user-role': 'own' } } };
    const created = await post('/runs', body, { ...headers, 'x-user-role': 'header' });
    const { run_id: runId } = (await created.json()) as { run_id: string };
    const { rows } = await deployment.pool.query('SELECT kwargs FROM run WHERE run_id = $1', [runId]);
    const { configurable } = JSON.parse(rows[0].kwargs.toString()).config;
    expect(configurable).toMatchObject({ 'x-user': 'ada', 'x-user-role': 'own' });
    for (const name of ['x-user-secret', 'x-other', 'x-api-key']) expect(configurable).not.toHaveProperty(name);
    await waitFor(() => deployment.service.output().includes('"headers":{"x-user":"ada"}'));
  });

  it('draws graphs with the headers the project names', async () => {
    const nodesFor = async (headers: Record<string, string>) => {
      const drawing = (await (await call('/assistants/shaped/graph', { headers })).json()) as {
        nodes: { id: string }[];
      };
      return drawing.nodes.map(({ id }) => id);
    };
    expect(await nodesFor({ 'x-user': 'ada' })).toContain('greet ada');
    expect(await nodesFor({ 'x-other': 'ada' })).toContain('greet nobody');
  });

  it('counts a request once, by the route that served it', async () => {
    await call('/custom/hello');
    await post('/assistants/count', {});
    const metrics = await (await call('/metrics')).text();
    const counted = (path: string) =>
      metrics
        .split('\n')
        .find((line) => line.includes('http_requests_total{') && line.includes(`path="${path}",status="200"`));
    expect(counted('project app')).toBeDefined();
    expect(counted('/assistants/count')).toMatch(/ 1$/);
  });

  it('loads the app anew when its process has ended', async () => {
    const last = await call('/custom/end-of-the-process');
    expect([last.status, await last.json()]).toEqual([503, { detail: 'The project did not answer' }]);
    await waitFor(async () => (await call('/custom/hello')).status === 200);
  });
});

describe('a project below a mount prefix, with a worker', () => {
  beforeAll(async () => {
    deployment = await startDeployment({
      worker: 'real',
      env: { PROJECT_DIR, MOUNT_PREFIX: '/agents', LANGGRAPH_HTTP: HTTP },
    });
  });
  afterAll(() => deployment.close());

  it('is served there and nowhere else, and locates what it creates below the URL that SDKs call', async () => {
    const thread = await post('/agents/threads', {});
    expect([thread.status, thread.headers.get('x-middleware')]).toEqual([200, 'seen']);
    const { thread_id: threadId } = (await thread.json()) as { thread_id: string };
    const run = await post(`/agents/threads/${threadId}/runs`, { assistant_id: 'echo', input: {} });
    const location = run.headers.get('content-location')!;
    expect(location).toMatch(/^\/threads\//);
    expect((await call(`/agents${location}`)).status).toBe(200);
    const stream = await post(`/agents/threads/${threadId}/runs/stream`, { assistant_id: 'echo', input: {} });
    await stream.text();
    const rest = await call(`/agents${stream.headers.get('location')}`);
    expect([rest.status, rest.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    await rest.text();
    expect((await call('/threads/x')).status).toBe(404);
    expect((await call('/agentsx')).status).toBe(404);
    expect((await call('/ok')).headers.get('x-runyard-mount-prefix'), 'for whoever runs it').toBe('/agents');
    expect((await (await call('/agents/custom/hello')).json()) as object).toEqual({ hello: 'nobody' });
  });

  it('gives code that runs beside a worker the same server, and runs that a route created', async () => {
    const asked = await post('/agents/runs/wait', { assistant_id: 'asking', input: {} }, { 'x-user': 'ada' });
    expect(await asked.json()).toEqual({ assistants: 3, header: 'ada' });
    const waited = (await (await call('/agents/custom/waits')).json()) as { messages: { content: string }[] };
    expect(waited.messages.at(-1)?.content).toBe('echo: from a route');
    const stranger = await call('/agents/threads/search', {
      method: 'POST',
      headers: { 'x-runyard-loopback': 'guess' },
    });
    expect(stranger.status).toBe(401);
  });

  it('serves no information about itself when configured so', async () => {
    for (const path of ['/info', '/metrics', '/docs', '/openapi.json', '']) {
      expect([path, (await call(`/agents${path}`)).status]).toEqual([path, 404]);
    }
    expect(await (await call('/ok?check_db=1')).json()).toEqual({ ok: true, services: {} });
  });
});
