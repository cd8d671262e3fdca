import { silentLogger } from '@runyard/service-kit';
import { describe, expect, it } from 'vitest';
import type { RunningRevision } from '../drivers/driver.ts';
import { Autoscaler } from './autoscaler.ts';
import { computeMetrics } from './deployment-metrics.ts';

const MINUTE_MS = 60_000;
const idle = {
  ...computeMetrics(undefined, { atMs: 0, replicas: [] }, undefined),
  run_worker_cpu_cores: 0,
  run_worker_memory_bytes: 0,
};

/** Makes a fake revision that keeps the counts it was scaled to. */
function revision(resources: RunningRevision['resources'], isDraining = false) {
  const counts = { 'agent-api': 1, 'run-worker': 1 };
  const fake: RunningRevision = {
    deploymentId: 'd',
    revisionId: 'r',
    resources,
    hasCustomAuth: false,
    upstreams: [],
    isDraining,
    replicas: () => [],
    countOf: (role) => counts[role],
    scale: (role, count) => {
      counts[role] = count;
    },
    drain: async () => undefined,
    stop: async () => undefined,
  };
  return { fake, counts };
}

describe('the autoscaler', () => {
  it('adds workers for a backlog at once, and removes them after the cool-down', () => {
    const { fake, counts } = revision({ queue_max_scale: 6 });
    const autoscaler = new Autoscaler({ coolDownMs: 30 * MINUTE_MS, logger: silentLogger });
    autoscaler.apply([fake], { ...idle, pending_runs: 35 }, 0);
    expect(counts).toEqual({ 'agent-api': 1, 'run-worker': 4 });
    autoscaler.apply([fake], { ...idle, pending_runs: 0 }, 1 * MINUTE_MS);
    autoscaler.apply([fake], { ...idle, pending_runs: 12 }, 29 * MINUTE_MS);
    expect(counts['run-worker']).toBe(4);
    autoscaler.apply([fake], { ...idle, pending_runs: 0 }, 31 * MINUTE_MS);
    expect(counts['run-worker']).toBe(2);
    autoscaler.apply([fake], { ...idle, pending_runs: 0 }, 60 * MINUTE_MS);
    expect(counts['run-worker']).toBe(1);
  });

  it('does not scale without room, while draining, or during a roll-out', () => {
    const autoscaler = new Autoscaler({ coolDownMs: 0, logger: silentLogger });
    const load = { ...idle, pending_runs: 100 };
    const [fixed, draining, old, fresh] = [
      revision({}),
      revision({ max_scale: 9 }, true),
      revision({ max_scale: 9 }),
      revision({ max_scale: 9 }),
    ];
    autoscaler.apply([fixed.fake], load, 0);
    autoscaler.apply([draining.fake], load, 0);
    autoscaler.apply([old.fake, fresh.fake], load, 0);
    for (const { counts } of [fixed, draining, old, fresh]) expect(counts).toEqual({ 'agent-api': 1, 'run-worker': 1 });
  });
});
