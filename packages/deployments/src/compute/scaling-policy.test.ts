import { describe, expect, it } from 'vitest';
import { scaleBounds } from './scale-bounds.ts';
import { capacityOf, decideScale, type Recommendation, type RoleLoad } from './scaling-policy.ts';

const MINUTE_MS = 60_000;
const GIB = 1024 ** 3;
const idle: RoleLoad = { cpuCores: 0, memoryBytes: 0, pendingRuns: 0 };

function decide(current: number, load: Partial<RoleLoad>, options: { max?: number; earlier?: Recommendation[] } = {}) {
  return decideScale({
    nowMs: 60 * MINUTE_MS,
    current,
    bounds: { min: 1, max: options.max ?? 10 },
    load: { ...idle, ...load },
    capacity: { cpuCores: 1, memoryBytes: GIB },
    coolDownMs: 30 * MINUTE_MS,
    // Nothing has called for more during the whole cool-down.
    earlier: options.earlier ?? [{ atMs: 31 * MINUTE_MS, count: 1 }],
  });
}

describe('the number of processes', () => {
  it.each<[string, number, Partial<RoleLoad>, number]>([
    ['one without load', 1, {}, 1],
    ['one for ten pending runs', 1, { pendingRuns: 10 }, 1],
    ['two for eleven pending runs', 1, { pendingRuns: 11 }, 2],
    ['as many as pending runs call for', 4, { pendingRuns: 75 }, 8],
    ['unchanged when the CPU is at its target', 2, { cpuCores: 1.5 }, 2],
    ['unchanged when the CPU is slightly above its target', 2, { cpuCores: 1.6 }, 2],
    ['higher when the CPU is well above its target', 2, { cpuCores: 1.9 }, 3],
    ['higher when memory is above its target', 2, { memoryBytes: 3 * GIB }, 4],
    ['what the largest target calls for', 2, { cpuCores: 1.9, memoryBytes: 1.5 * GIB, pendingRuns: 55 }, 6],
    ['what the only known target calls for', 2, { cpuCores: null, memoryBytes: null, pendingRuns: 55 }, 6],
    ['unchanged when nothing is known', 3, { cpuCores: null, memoryBytes: null, pendingRuns: null }, 3],
    ['unchanged when an unknown target might call for more', 3, { cpuCores: null }, 3],
    ['lower under a lower load', 4, { cpuCores: 1.2, pendingRuns: 12 }, 2],
    ['never above the maximum', 5, { pendingRuns: 10_000 }, 10],
    ['at most four higher at once where there are few', 1, { pendingRuns: 1_000 }, 5],
  ])('is %s', (_, current, load, count) => {
    expect(decide(current, load).count).toBe(count);
  });

  it('at most doubles at once where there are many', () => {
    expect(decide(6, { pendingRuns: 10_000 }, { max: 16 }).count).toBe(12);
  });

  it('falls only when nothing has called for more during the whole cool-down', () => {
    const busy = { atMs: 31 * MINUTE_MS, count: 5 };
    expect(decide(5, {}, { earlier: [busy] }).count).toBe(5);
    expect(decide(5, {}, { earlier: [busy, { atMs: 40 * MINUTE_MS, count: 2 }] }).count).toBe(5);
    const past = { atMs: 30 * MINUTE_MS, count: 5 };
    expect(decide(5, {}, { earlier: [past, { atMs: 40 * MINUTE_MS, count: 2 }] }).count).toBe(2);
  });

  it('stays as it was found for a cool-down after the first look', () => {
    const first = decide(4, {}, { earlier: [] });
    expect(first.count).toBe(4);
    expect(first.recommendations).toEqual([
      { atMs: 60 * MINUTE_MS, count: 4 },
      { atMs: 60 * MINUTE_MS, count: 1 },
    ]);
  });

  it('depends on recommendations of one cool-down only', () => {
    const earlier = Array.from({ length: 60 }, (_, minute) => ({ atMs: minute * MINUTE_MS, count: 1 }));
    expect(decide(1, {}, { earlier }).recommendations).toHaveLength(30);
  });
});

describe('the bounds of a deployment', () => {
  it.each([
    [{}, 'agent-api', { min: 1, max: 1 }],
    [{ min_scale: 2 }, 'agent-api', { min: 2, max: 2 }],
    [{ min_scale: 2, max_scale: 5 }, 'agent-api', { min: 2, max: 5 }],
    [{ min_scale: 3, max_scale: 2 }, 'agent-api', { min: 3, max: 3 }],
    [{ min_scale: 2 }, 'run-worker', { min: 1, max: 1 }],
    [{ max_scale: 5 }, 'run-worker', { min: 1, max: 5 }],
    [{ queue_min_scale: 2, queue_max_scale: 4, max_scale: 9 }, 'run-worker', { min: 2, max: 4 }],
    [{ queue_min_scale: null, queue_max_scale: null }, 'run-worker', { min: 1, max: 1 }],
  ] as const)('%j for %s are %j', (resources, role, bounds) => {
    expect(scaleBounds(resources, role)).toEqual(bounds);
  });

  it('and the capacity of one process come from its resources', () => {
    expect(capacityOf({}, 'agent-api')).toEqual({ cpuCores: 1, memoryBytes: GIB });
    expect(capacityOf({ cpu: 2, memory_mb: 2048 }, 'run-worker')).toEqual({ cpuCores: 2, memoryBytes: 2 * GIB });
    expect(capacityOf({ cpu: 2, queue_cpu: 0.5, queue_memory_mb: 512 }, 'run-worker')).toEqual({
      cpuCores: 0.5,
      memoryBytes: GIB / 2,
    });
  });
});
