import { describe, expect, it } from 'vitest';
import type { RunningReplica } from '../drivers/driver.ts';
import { computeMetrics } from './deployment-metrics.ts';
import type { MetricLine } from './metrics-text.ts';
import type { ReplicaSample, ReplicaSamples } from './replica-samples.ts';
import { parseServiceMetrics, quantile } from './service-metrics.ts';

const NOW = Date.UTC(2026, 10, 23);
const part = (role: RunningReplica['role'], changes: Partial<ReplicaSample> = {}): ReplicaSample => ({
  role,
  name: role,
  revisionId: 'r',
  url: 'http://127.0.0.1:1',
  pid: 1,
  restarts: 0,
  usage: { cpuSeconds: 10, memoryBytes: 100 },
  metrics: {},
  ...changes,
});
const reading = (atMs: number, ...replicas: ReplicaSample[]): ReplicaSamples => ({ atMs, replicas });

describe('the metrics between two samples', () => {
  it('are the growth of counters, and the values at the end', () => {
    const before = reading(
      NOW,
      part('agent-api', { metrics: { requests: 100, requestErrors: 1, pendingRuns: 50 } }),
      part('run-worker', { metrics: { runsSucceeded: 5, runsFailed: 5 } }),
    );
    const now = reading(
      NOW + 10_000,
      part('agent-api', {
        usage: { cpuSeconds: 12, memoryBytes: 200 },
        metrics: { requests: 130, requestErrors: 1, pendingRuns: 3, activeRuns: 2, runSlots: 10 },
      }),
      part('run-worker', {
        usage: { cpuSeconds: 25, memoryBytes: 300 },
        metrics: { runsSucceeded: 9, runsFailed: 6 },
      }),
    );
    expect(computeMetrics(before, now, { bytes: 7, connections: 8 })).toMatchObject({
      agent_api_replicas: 1,
      run_worker_replicas: 1,
      agent_api_cpu_cores: 0.2,
      run_worker_cpu_cores: 1.5,
      agent_api_memory_bytes: 200,
      run_worker_memory_bytes: 300,
      restarts: 0,
      pending_runs: 3,
      active_runs: 2,
      run_slots: 10,
      runs_succeeded: 4,
      runs_failed: 1,
      requests: 30,
      request_errors: 0,
      database_bytes: 7,
      database_connections: 8,
    });
  });

  it('count a restarted process from zero, and include the restart', () => {
    const before = reading(NOW, part('run-worker', { metrics: { runsSucceeded: 100 } }));
    const now = reading(
      NOW + 10_000,
      part('run-worker', {
        pid: 2,
        restarts: 1,
        usage: { cpuSeconds: 5, memoryBytes: 1 },
        metrics: { runsSucceeded: 3 },
      }),
    );
    expect(computeMetrics(before, now, undefined)).toMatchObject({
      restarts: 1,
      runs_succeeded: 3,
      run_worker_cpu_cores: 0.5,
    });
  });

  it('leave out what happened before the first sample, because processes may outlive the one that samples', () => {
    const old = part('run-worker', {
      restarts: 3,
      metrics: {
        runsSucceeded: 900,
        runLatency: new Map([
          [10, 900],
          [Infinity, 900],
        ]),
      },
    });
    expect(computeMetrics(undefined, reading(NOW, old), undefined)).toMatchObject({
      restarts: null,
      runs_succeeded: null,
      run_latency_ms_p50: null,
    });
  });

  it('leave out a process without an earlier sample', () => {
    const silent = reading(NOW, part('agent-api', { metrics: null, usage: null }));
    const told = part('agent-api', {
      usage: { cpuSeconds: 500, memoryBytes: 1 },
      metrics: {
        requests: 900,
        requestLatency: new Map([
          [10, 900],
          [Infinity, 900],
        ]),
      },
    });
    expect(computeMetrics(silent, reading(NOW + 10_000, told), undefined)).toMatchObject({
      agent_api_cpu_cores: null,
      requests: null,
      request_latency_ms_p50: null,
    });
  });

  it('count a process that began since the earlier sample from its beginning', () => {
    const before = reading(NOW, part('run-worker', { metrics: { runsSucceeded: 4 } }));
    const more = part('run-worker', { name: 'run-worker-2', pid: 2, metrics: { runsSucceeded: 3 } });
    const now = reading(NOW + 10_000, part('run-worker', { metrics: { runsSucceeded: 5 } }), more);
    expect(computeMetrics(before, now, undefined)).toMatchObject({ runs_succeeded: 4 });
  });

  it('add up the processes of a role, including those of a draining revision', () => {
    const workers = [
      part('run-worker'),
      part('run-worker', { name: 'run-worker-2' }),
      part('run-worker', { revisionId: 'old', url: null }),
    ];
    expect(computeMetrics(undefined, reading(NOW, ...workers), undefined)).toMatchObject({
      run_worker_replicas: 2,
      run_worker_memory_bytes: 300,
    });
  });

  it('are null where nothing reports them', () => {
    const silent = part('run-worker', { usage: null, metrics: null, pid: null });
    expect(computeMetrics(reading(NOW, silent), reading(NOW + 1000, silent), undefined)).toMatchObject({
      run_worker_cpu_cores: null,
      run_worker_memory_bytes: null,
      agent_api_cpu_cores: null,
      pending_runs: null,
      runs_succeeded: null,
      request_latency_ms_p95: null,
      database_bytes: null,
    });
  });

  it('contain the latencies of requests between the samples', () => {
    const latency = (...counts: [number, number][]) => new Map(counts);
    const before = reading(
      NOW,
      part('agent-api', { metrics: { requestLatency: latency([10, 90], [100, 100], [Infinity, 100]) } }),
    );
    const now = reading(
      NOW + 1000,
      part('agent-api', { metrics: { requestLatency: latency([10, 90], [100, 120], [Infinity, 120]) } }),
    );
    expect(computeMetrics(before, now, undefined)).toMatchObject({
      request_latency_ms_p50: 55,
      request_latency_ms_p95: 95.5,
    });
  });
});

describe('the metrics of a service', () => {
  const counter = (name: string, ...values: [number, Record<string, string>?][]): MetricLine[] =>
    values.map(([value, labels = {}]) => ({ name, labels, value }));

  it("are recognized with any prefix, and leave out the platform's own requests", () => {
    const metrics = parseServiceMetrics([
      ...counter('my_num_pending_runs', [4]),
      ...counter('my_num_running_runs', [2]),
      ...counter('my_workers_max', [10]),
      ...counter(
        'my_http_requests_total',
        [5, { path: '/threads', status: '200' }],
        [2, { path: '/threads', status: '503' }],
        [90, { path: '/ok', status: '200' }],
        [91, { path: '/metrics', status: '200' }],
      ),
    ]);
    expect(metrics).toEqual({ pendingRuns: 4, activeRuns: 2, runSlots: 10, requests: 7, requestErrors: 2 });
  });

  it('have latency buckets summed over all labels', () => {
    const bucket = (value: number, le: string, path = '/x') => ({
      name: 'lg_api_http_requests_latency_bucket',
      value,
      labels: { le, path },
    });
    const lines = [
      bucket(1, '10'),
      bucket(3, '+Inf'),
      bucket(2, '10', '/y'),
      bucket(2, '+Inf', '/y'),
      bucket(9, '10', '/ok'),
    ];
    expect(parseServiceMetrics(lines).requestLatency).toEqual(
      new Map([
        [10, 3],
        [Infinity, 5],
      ]),
    );
  });

  it.each<[string, [number, number][], number, number | null]>([
    ['none', [], 0.5, null],
    [
      'the middle of a bucket',
      [
        [10, 0],
        [20, 10],
        [Infinity, 10],
      ],
      0.5,
      15,
    ],
    [
      'the highest bound when it is above',
      [
        [10, 1],
        [Infinity, 10],
      ],
      0.95,
      10,
    ],
  ])('have quantiles: %s', (_, buckets, share, expected) => {
    expect(quantile(new Map(buckets), share)).toBe(expected);
  });
});
