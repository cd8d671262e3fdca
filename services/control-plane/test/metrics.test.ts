import { randomUUID } from 'node:crypto';
import type { DeploymentMetrics, LogPage } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { OTHER_WORKSPACE } from '@runyard/test-kit/callers';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start({ METRICS_SAMPLE_SECONDS: '1', SCALE_DOWN_SECONDS: '1' });
});
afterAll(() => platform.close());

const read = (id: string, query = '') =>
  platform.call<DeploymentMetrics>('GET', `/v2/deployments/${id}/metrics${query}`);
const newest = async (id: string) => (await read(id)).body.points.at(-1);
const scaled = (resource_spec: object) =>
  platform.createHealthy({ source_config: { project_path: platform.projectDir, resource_spec } });

describe('the metrics of a deployment', () => {
  let id: string;
  beforeAll(async () => {
    ({ id } = await platform.createHealthy());
  });
  afterAll(() => platform.deleteAll());

  it('show its usage and its work over time', async () => {
    // Earlier samples are from the start. The CPU usage of a process is known from its second sample on.
    const isWhole = ({ run_worker_replicas, agent_api_cpu_cores }: DeploymentMetrics['points'][number]) =>
      run_worker_replicas === 1 && agent_api_cpu_cores !== null;
    await waitFor(async () => (await read(id)).body.points.slice(-1).some(isWhole), { what: 'a whole sample' });
    const { body } = await read(id);
    expect(Date.parse(body.end_time) - Date.parse(body.start_time)).toBe(15 * 60_000);
    expect(body.step_seconds).toBe(2);
    expect(body.points.at(-1)).toMatchObject({
      agent_api_replicas: 1,
      run_worker_replicas: 1,
      agent_api_cpu_cores: expect.any(Number),
      run_worker_memory_bytes: expect.any(Number),
      restarts: 0,
      pending_runs: 0,
      active_runs: 1,
      database_bytes: expect.any(Number),
    });
    expect(body.points.at(-1)!.agent_api_memory_bytes).toBeGreaterThan(10_000_000);
    const text = await (await fetch(`${platform.dataPlane.service.url}/metrics`)).text();
    expect(text).toContain(`runyard_deployment_run_worker_replicas{deployment_id="${id}"} 1`);
  });

  it('show restarts', async () => {
    await waitFor(() => newest(id));
    await fetch(`${await platform.upstreamOf(id)}/crash`).catch(() => undefined);
    await waitFor(async () => (await read(id)).body.points.some(({ restarts }) => restarts === 1));
  });

  it('combine all samples, even if they are more than fit into memory at once', async () => {
    const client = new pg.Client(platform.database.url);
    await client.connect();
    const samples = 9_000;
    await client.query(
      `INSERT INTO deployment_sample SELECT $1, now() - interval '20 hours' + n * interval '1 second', '{"requests": 1}'
       FROM generate_series(1, $2::int) AS n`,
      [id, samples],
    );
    await client.end();
    const [from, to] = [21, 17].map((hours) => new Date(Date.now() - hours * 3_600_000).toISOString());
    const { points } = (await read(id, `?start_time=${from}&end_time=${to}`)).body;
    expect(points.length).toBeLessThanOrEqual(501);
    expect(points.reduce((sum, { requests }) => sum + (requests ?? 0), 0)).toBe(samples);
  });

  it('are shown only to those who may read the deployment', async () => {
    const path = `/v2/deployments/${id}/metrics`;
    expect(await platform.call('GET', path, { as: { workspace_id: OTHER_WORKSPACE } })).toMatchObject({ status: 404 });
    expect(await platform.call('GET', path, { as: { permissions: [] } })).toMatchObject({ status: 403 });
    expect(await read(randomUUID())).toMatchObject({ status: 404 });
    expect(await read(id, '?start_time=soon')).toMatchObject({ status: 422 });
    expect(await read(id, '?start_time=2026-01-02&end_time=2026-01-01')).toMatchObject({ status: 422 });
  });
});

describe('a deployment with room to grow', () => {
  it('gets workers for a backlog, and loses them when it has passed', async () => {
    const { id } = await scaled({ queue_max_scale: 3 });
    const upstream = await platform.upstreamOf(id);
    await fetch(`${upstream}/pending-runs/25`);
    await waitFor(async () => (await newest(id))?.run_worker_replicas === 3, {
      what: 'three workers',
    });
    await fetch(`${upstream}/pending-runs/0`);
    await waitFor(async () => (await newest(id))?.run_worker_replicas === 1, { what: 'one worker' });
    const { logs } = (await platform.call<LogPage>('POST', `/v1/projects/${id}/deploy_logs`, { body: {} })).body;
    expect(new Set(logs.map(({ source }) => source))).toEqual(
      new Set(['agent-api', 'run-worker-1', 'run-worker-2', 'run-worker-3']),
    );
  });

  it('keeps its process counts over a restart, until its load changes', async () => {
    const patient = await TestPlatform.start({ METRICS_SAMPLE_SECONDS: '1' });
    try {
      const resource_spec = { queue_max_scale: 3 };
      const source_config = { project_path: patient.projectDir, resource_spec };
      const { id } = await patient.createHealthy({ source_config });
      const points = async () =>
        (await patient.call<DeploymentMetrics>('GET', `/v2/deployments/${id}/metrics`)).body.points;
      await fetch(`${await patient.upstreamOf(id)}/pending-runs/25`);
      await waitFor(async () => (await points()).at(-1)?.run_worker_replicas === 3, { what: 'three workers' });
      await patient.stopService();
      const stoppedAt = Date.now();
      await patient.startService();
      // The new workers have no backlog.
      const isSoAgain = ({ time, run_worker_replicas }: DeploymentMetrics['points'][number]) =>
        Date.parse(time) > stoppedAt && run_worker_replicas === 3;
      await waitFor(async () => (await points()).some(isSoAgain), { what: 'three workers again' });
    } finally {
      await patient.close();
    }
  });
});
