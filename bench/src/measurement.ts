import { percentile } from '@runyard/test-kit';
import { runClosedLoop } from './load/closed-loop.ts';
import { WORKLOADS, type WorkloadName } from './load/workloads.ts';
import { type CpuTimes, readCpuTimes } from './observe/cpu-by-process.ts';
import { readStageTimes, type StageTimes } from './observe/stage-times.ts';
import type { Target } from './targets/target.ts';

export interface Measurement {
  target: string;
  workload: WorkloadName;
  clients: number;
  round: number;
  operations: number;
  failures: number;
  firstFailure?: string;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** Processor milliseconds per operation of each part, `load driver` among them. */
  cpuMsPerOperation: Record<string, number>;
  /** Times that the servers measured: milliseconds per occurrence, and occurrences per operation. */
  stages: Record<string, { meanMs: number; perOperation: number }>;
}

export interface MeasurementOptions {
  target: Target;
  /** All running targets, so that each one's processes count for itself alone. */
  targets: Target[];
  workload: WorkloadName;
  clients: number;
  seconds: number;
  round: number;
  /** Seconds in which caches fill and compilers warm up; they do not count. */
  warmUpSeconds?: number;
}

/** Seconds after which code that every request uses is compiled. */
const COMPILED_SECONDS = 10;

/** Has a server that was just started do all workloads for a while, as one in production has done long ago. */
export async function warmUp(endpoint: Target, clients: number, seconds = COMPILED_SECONDS): Promise<void> {
  const workloads = Object.values(WORKLOADS);
  for (const workload of workloads)
    await runClosedLoop({ endpoint, workload, clients, seconds: seconds / workloads.length });
}

export async function measure(options: MeasurementOptions): Promise<Measurement> {
  const { target, workload, clients, seconds, round, warmUpSeconds = 1 } = options;
  const load = { endpoint: target, workload: WORKLOADS[workload], clients };
  await runClosedLoop({ ...load, seconds: warmUpSeconds });
  const before = await observe(options);
  const result = await runClosedLoop({ ...load, seconds });
  const after = await observe(options);
  const latencies = result.latenciesMs.sort((a, b) => a - b);
  const operations = latencies.length;
  return {
    target: target.name,
    workload,
    clients,
    round,
    operations,
    failures: result.failures,
    ...(result.firstFailure !== undefined && { firstFailure: result.firstFailure }),
    perSecond: operations / (result.elapsedMs / 1000),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: latencies.at(-1) ?? 0,
    cpuMsPerOperation: perOperation(before.cpu, after.cpu, operations),
    stages: stagesBetween(before.stages, after.stages, operations),
  };
}

async function observe({ target, targets }: MeasurementOptions): Promise<{ cpu: CpuTimes; stages: StageTimes }> {
  const { user, system } = process.cpuUsage();
  // Targets of one root take turns: the others of it are idle.
  const others = targets.flatMap(({ rootPid }) => (rootPid === target.rootPid ? [] : (rootPid ?? [])));
  const cpu: CpuTimes = target.rootPid === undefined ? new Map() : await readCpuTimes(target.rootPid, others);
  return {
    cpu: new Map([...cpu, ['load driver', (user + system) / 1000]]),
    stages: await readStageTimes(target.observed),
  };
}

function perOperation(before: CpuTimes, after: CpuTimes, operations: number): Record<string, number> {
  const spent = [...after].map(
    ([part, ms]) => [part, (ms - (before.get(part) ?? 0)) / Math.max(operations, 1)] as const,
  );
  return Object.fromEntries(spent.sort(([, a], [, b]) => b - a));
}

function stagesBetween(before: StageTimes, after: StageTimes, operations: number): Measurement['stages'] {
  const stages = [...after].flatMap(([name, { count, seconds }]) => {
    const occurrences = count - (before.get(name)?.count ?? 0);
    if (occurrences <= 0) return [];
    const meanMs = ((seconds - (before.get(name)?.seconds ?? 0)) * 1000) / occurrences;
    return [[name, { meanMs, perOperation: occurrences / Math.max(operations, 1) }] as const];
  });
  return Object.fromEntries(stages);
}
