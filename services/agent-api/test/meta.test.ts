import { freePort } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';

let deployment: TestDeployment;
let metricsPort: number;
beforeAll(async () => {
  metricsPort = await freePort();
  deployment = await startDeployment({
    env: {
      DEPLOYMENT_ID: 'shop',
      REVISION_ID: 'r7',
      LSD_DEPLOYMENT_TYPE: 'prod',
      LANGSMITH_TENANT_ID: 'acme',
      METRIC_PREFIX: 'shop_',
      LSD_PROM_METRICS_ENABLED: 'true',
      LSD_PROM_METRICS_PORT: String(metricsPort),
    },
  });
});
afterAll(() => deployment?.close());

const get = (path: string, init: Parameters<typeof ask>[1] = {}) => ask(deployment.url + path, init);

describe('metrics', () => {
  it('carry the labels of the deployment and the prefix chosen', async () => {
    const { text, headers } = await get('/metrics');
    const labels = '{project_id="shop",revision_id="r7",deployment_type="prod"}';
    for (const name of [
      'num_pending_runs',
      'num_running_runs',
      'workers_max',
      'workers_active',
      'workers_available',
      'pg_pool_max',
      'pg_pool_size',
      'pg_pool_available',
      'pg_pool_requests_queued_total',
      'pg_pool_requests_errors_total',
      'redis_pool_max',
      'redis_pool_size',
      'redis_pool_available',
    ]) {
      expect(text).toMatch(new RegExp(`^shop_${name}${labels} \\d`, 'm'));
    }
    expect(text).not.toContain('lg_api_');
    expect(text).toMatch(/^# TYPE shop_pg_pool_requests_queued_total counter$/m);
    expect(text).toMatch(/^shop_redis_pool_size\{.*\} [1-9]/m);
    expect(headers['content-type']).toContain('text/plain');
  });

  it('are returned as JSON too', async () => {
    await get('/nothing');
    await get('/threads/search', { body: {} });
    const { json, headers } = await get('/metrics?format=json');
    expect(headers['content-type']).toContain('application/json');
    expect(json).toMatchObject({
      queue: {
        n_pending: 0,
        n_running: 0,
        pending_runs_wait_time_max_secs: 0,
        pending_runs_wait_time_med_secs: 0,
        pending_unblocked_runs_wait_time_max_secs: 0,
      },
      workers: { max: 0, active: 0, available: 0 },
      pg_pool: { max: 10, size: expect.any(Number), available: expect.any(Number) },
      redis_pool: { max: 2000 },
    });
    const search = { method: 'POST', path: '/threads/search', status: 200 };
    const { api } = json as { api: Record<string, unknown[]> };
    expect(api.http_requests_total).toContainEqual({ ...search, count: 1 });
    expect(api.http_requests_latency).toContainEqual({ ...search, count: 1, sum_ms: expect.any(Number) });
    expect(await get('/metrics?format=xml')).toMatchObject({
      status: 422,
      json: { detail: expect.stringContaining('format') },
    });
  });

  it('have a port of their own when configured', async () => {
    const { text } = await ask(`http://127.0.0.1:${metricsPort}/metrics`);
    expect(text).toContain('shop_workers_max{');
    expect((await ask(`http://127.0.0.1:${metricsPort}/ok`)).status).toBe(200);
    expect((await ask(`http://127.0.0.1:${metricsPort}/threads/search`, { body: {} })).status).toBe(404);
  });
});

describe('the server', () => {
  it('reports its features and where it belongs', async () => {
    expect((await get('/info')).json).toMatchObject({
      flags: {
        assistants: true,
        crons: true,
        langsmith: false,
        langsmith_tracing_replicas: true,
        langsmith_tracing_session_on_runs: true,
      },
      host: { kind: 'self-hosted', project_id: 'shop', revision_id: 'r7', host_revision_id: 'r7', tenant_id: 'acme' },
      metadata: {},
    });
  });

  it('describes each operation once, to programs and to people', async () => {
    const { paths } = (await get('/openapi.json')).json as { paths: Record<string, Record<string, unknown>> };
    for (const path of ['/', '/ok', '/info', '/metrics', '/docs', '/openapi.json', '/runs/crons', '/crons/{cron_id}']) {
      expect(paths).toHaveProperty([path]);
    }
    const { text } = await get('/docs');
    for (const path of Object.keys(paths)) expect(text).toContain(path);
  });

  it('answers HEAD like GET without the body, other methods with the allowed ones, and an unknown path with 404', async () => {
    for (const path of ['/', '/ok', '/info', '/docs', '/openapi.json', '/metrics']) {
      expect(await get(path, { method: 'HEAD' }), path).toMatchObject({ status: 200, text: '' });
      const wrong = await get(path, { method: 'DELETE' });
      expect(wrong, path).toMatchObject({ status: 405, json: { detail: 'Method Not Allowed' } });
      expect(wrong.headers.allow).toBe('GET, HEAD');
    }
    expect(await get('/ok/')).toMatchObject({ status: 404, json: { detail: 'Not Found' } });
  });

  it('keeps connections for 75 seconds', async () => {
    expect((await fetch(`${deployment.url}/ok`)).headers.get('keep-alive')).toBe('timeout=75');
  });
});
