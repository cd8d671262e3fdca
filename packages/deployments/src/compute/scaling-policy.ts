import type { ResourceSpec } from '@runyard/contracts';
import type { ReplicaRole, ScaleBounds } from './scale-bounds.ts';

/** The load of one role, over all its processes. Unknown values are null. */
export interface RoleLoad {
  /** Cores in use. */
  cpuCores: number | null;
  memoryBytes: number | null;
  /** Pending runs; null also for a role that does not execute runs. */
  pendingRuns: number | null;
}

/** The resources of one process of a role. */
export interface Capacity {
  cpuCores: number;
  memoryBytes: number;
}

/** The count that the load called for at a time. */
export interface Recommendation {
  atMs: number;
  count: number;
}

export interface ScalingDecision {
  count: number;
  /** Passed to the next decision. */
  recommendations: Recommendation[];
}

const CPU_TARGET = 0.75;
const MEMORY_TARGET = 0.75;
const PENDING_RUNS_PER_WORKER = 10;
/** A load this close to its target changes nothing. */
const TOLERANCE = 0.1;
/** Processes that one step may add at least; otherwise a step may double them. */
const STEP_UP_MIN = 4;
const DEFAULT_CPU_CORES = 1;
const DEFAULT_MEMORY_MB = 1024;
const MEBIBYTE = 1024 * 1024;

/**
 * Decides the count of a role: the largest count that any target calls for. It grows at once, and shrinks only when
 * nothing called for more during the whole cool-down. An unknown value calls for the current count.
 */
export function decideScale(input: {
  nowMs: number;
  current: number;
  bounds: ScaleBounds;
  load: RoleLoad;
  capacity: Capacity;
  coolDownMs: number;
  earlier: Recommendation[];
}): ScalingDecision {
  const { nowMs, current, bounds, load, capacity, coolDownMs, earlier } = input;
  const wanted = Math.max(
    countForTarget(load.cpuCores, capacity.cpuCores, CPU_TARGET, current),
    countForTarget(load.memoryBytes, capacity.memoryBytes, MEMORY_TARGET, current),
    Math.ceil((load.pendingRuns ?? 0) / PENDING_RUNS_PER_WORKER),
  );
  const recommendation = { atMs: nowMs, count: clampToBounds(wanted, bounds) };
  // Processes that run at the first decision may have been needed just before it, so their count is the first
  // recommendation.
  const known = earlier.length > 0 ? earlier : [{ atMs: nowMs, count: current }];
  const recommendations = [...known.filter(({ atMs }) => nowMs - atMs < coolDownMs), recommendation];
  const stepped = Math.min(recommendation.count, Math.max(2 * current, current + STEP_UP_MIN));
  const floor = Math.min(current, Math.max(...recommendations.map(({ count }) => count)));
  return { count: clampToBounds(Math.max(stepped, floor), bounds), recommendations };
}

export function capacityOf(resources: ResourceSpec, role: ReplicaRole): Capacity {
  const { cpu, queue_cpu, memory_mb, queue_memory_mb } = resources;
  const cores = role === 'agent-api' ? cpu : (queue_cpu ?? cpu);
  const mebibytes = role === 'agent-api' ? memory_mb : (queue_memory_mb ?? memory_mb);
  return { cpuCores: cores ?? DEFAULT_CPU_CORES, memoryBytes: (mebibytes ?? DEFAULT_MEMORY_MB) * MEBIBYTE };
}

function countForTarget(used: number | null, ofOne: number, target: number, current: number): number {
  if (used === null) return current;
  const ratio = used / (ofOne * current * target);
  return Math.abs(ratio - 1) <= TOLERANCE ? current : Math.ceil(ratio * current);
}

function clampToBounds(count: number, { min, max }: ScaleBounds): number {
  return Math.min(Math.max(count, min), max);
}
