import { DeploymentMetricsPoint } from '@runyard/contracts';
import { describe, expect, it } from 'vitest';
import { CombinedSamples } from './combined-samples.ts';
import type { DeploymentMetricValues } from './sample.ts';

const NOW = Date.UTC(2026, 10, 23);
/** The figures of a deployment without processes and requests. */
const NOTHING = Object.fromEntries(
  Object.keys(DeploymentMetricsPoint.properties).map((name) => [name, null]),
) as unknown as DeploymentMetricValues;

describe('samples of a step', () => {
  const sample = (atMs: number, metrics: Partial<DeploymentMetricValues>) => ({
    takenAt: new Date(atMs),
    metrics: { ...NOTHING, ...metrics },
  });

  it('are combined to one: counts are added, latencies are the worst, the rest the mean', () => {
    const combined = new CombinedSamples(60_000);
    for (const each of [
      sample(NOW, { requests: 3, pending_runs: 4, request_latency_ms_p95: 70 }),
      sample(NOW + 15_000, { requests: 5, pending_runs: 8, request_latency_ms_p95: 20 }),
      sample(NOW + 30_000, { requests: null, pending_runs: null }),
      sample(NOW + 60_000, { requests: 1 }),
    ]) {
      combined.add(each);
    }
    expect(combined.all()).toMatchObject([
      { takenAt: new Date(NOW + 30_000), metrics: { requests: 8, pending_runs: 6, request_latency_ms_p95: 70 } },
      { takenAt: new Date(NOW + 60_000), metrics: { requests: 1 } },
    ]);
  });
});
