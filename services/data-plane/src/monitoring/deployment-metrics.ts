import type { DeploymentMetricValues, ReplicaRole } from '@runyard/deployments';
import type { ReplicaSample, ReplicaSamples } from './replica-samples.ts';
import { quantile, type ServiceMetrics } from './service-metrics.ts';

export interface DatabaseMetrics {
  bytes: number;
  connections: number;
}

/**
 * Computes the metrics of the time between two samples. Counts include processes that were sampled before, and those
 * that started since. Counts from before the first sample, or from a time without samples of a process, are left out,
 * as their time is unknown.
 */
export function computeMetrics(
  before: ReplicaSamples | undefined,
  now: ReplicaSamples,
  database: DatabaseMetrics | undefined,
): DeploymentMetricValues {
  const between = new Interval(before, now);
  const [api, worker] = ['agent-api', 'run-worker'] as const;
  const requestLatency = between.buckets(api, 'requestLatency');
  const runLatency = between.buckets(worker, 'runLatency');
  return {
    agent_api_replicas: between.replicas(api),
    run_worker_replicas: between.replicas(worker),
    agent_api_cpu_cores: between.cpuCores(api),
    run_worker_cpu_cores: between.cpuCores(worker),
    agent_api_memory_bytes: between.memoryBytes(api),
    run_worker_memory_bytes: between.memoryBytes(worker),
    restarts: between.restarts(),
    // Each server reports the runs of the whole deployment.
    pending_runs: between.latest(api, 'pendingRuns'),
    active_runs: between.latest(api, 'activeRuns'),
    run_slots: between.latest(api, 'runSlots'),
    runs_succeeded: between.increaseOf(worker, 'runsSucceeded'),
    runs_failed: between.increaseOf(worker, 'runsFailed'),
    run_latency_ms_p50: quantile(runLatency, 0.5),
    run_latency_ms_p95: quantile(runLatency, 0.95),
    requests: between.increaseOf(api, 'requests'),
    request_errors: between.increaseOf(api, 'requestErrors'),
    request_latency_ms_p50: quantile(requestLatency, 0.5),
    request_latency_ms_p95: quantile(requestLatency, 0.95),
    database_bytes: database?.bytes ?? null,
    database_connections: database?.connections ?? null,
  };
}

type Count = {
  [Name in keyof ServiceMetrics]-?: ServiceMetrics[Name] extends number | undefined ? Name : never;
}[keyof ServiceMetrics];

class Interval {
  readonly #now: ReplicaSamples;
  readonly #earlier: Map<string, ReplicaSample>;
  /** Null without an earlier sample. */
  readonly #beforeMs: number | null;

  constructor(before: ReplicaSamples | undefined, now: ReplicaSamples) {
    this.#now = now;
    this.#beforeMs = before?.atMs ?? null;
    this.#earlier = new Map(before?.replicas.map((replica) => [keyOf(replica), replica]));
  }

  replicas(role: ReplicaRole): number {
    return this.#of(role).filter(({ url }) => url !== null).length;
  }

  cpuCores(role: ReplicaRole): number | null {
    const seconds = (this.#now.atMs - (this.#beforeMs ?? this.#now.atMs)) / 1000;
    if (seconds <= 0) return null;
    return sum(this.#of(role), (replica) => {
      if (!replica.usage) return null;
      if ('cpuCores' in replica.usage) return replica.usage.cpuCores;
      const { cpuSeconds } = replica.usage;
      const earlier = this.#before(
        replica,
        ({ usage }) => (usage && 'cpuSeconds' in usage ? usage.cpuSeconds : undefined),
        0,
      );
      // A child process that ended takes its CPU time with it, so the difference may be negative.
      return earlier === undefined ? null : Math.max(cpuSeconds - earlier, 0) / seconds;
    });
  }

  memoryBytes(role: ReplicaRole): number | null {
    return sum(this.#of(role), ({ usage }) => usage?.memoryBytes ?? null);
  }

  restarts(): number | null {
    if (this.#beforeMs === null) return null;
    return this.#now.replicas.reduce((total, replica) => {
      const earlier = this.#earlier.get(keyOf(replica))?.restarts ?? 0;
      return total + Math.max(replica.restarts - earlier, 0);
    }, 0);
  }

  latest(role: ReplicaRole, name: Count): number | null {
    const reported = this.#of(role).map(({ metrics }) => metrics?.[name]);
    return reported.find((value) => value !== undefined) ?? null;
  }

  increaseOf(role: ReplicaRole, name: Count): number | null {
    return sum(this.#of(role), (replica) => {
      const value = replica.metrics?.[name];
      const earlier = this.#before(replica, ({ metrics }) => metrics?.[name], 0);
      return value === undefined || earlier === undefined ? null : Math.max(value - earlier, 0);
    });
  }

  buckets(role: ReplicaRole, name: 'requestLatency' | 'runLatency'): Map<number, number> {
    const total = new Map<number, number>();
    for (const replica of this.#of(role)) {
      const earlier = this.#before(replica, ({ metrics }) => metrics?.[name], new Map<number, number>());
      if (!earlier) continue;
      for (const [bound, value] of replica.metrics?.[name] ?? []) {
        total.set(bound, (total.get(bound) ?? 0) + Math.max(value - (earlier.get(bound) ?? 0), 0));
      }
    }
    return total;
  }

  #of(role: ReplicaRole): ReplicaSample[] {
    return this.#now.replicas.filter((replica) => replica.role === role);
  }

  /**
   * Returns a value of the same process at the earlier sample; `nothing` for a process that started since; undefined
   * when it is unknown.
   */
  #before<T>(replica: ReplicaSample, read: (replica: ReplicaSample) => T | undefined, nothing: T): T | undefined {
    if (this.#beforeMs === null) return undefined;
    const earlier = this.#earlier.get(keyOf(replica));
    const isSame = earlier?.restarts === replica.restarts && earlier.pid === replica.pid;
    return isSame ? read(earlier) : nothing;
  }
}

const keyOf = (replica: ReplicaSample) => `${replica.revisionId}/${replica.name}`;

/** Returns null when no replica has the value. */
function sum(replicas: ReplicaSample[], read: (replica: ReplicaSample) => number | null): number | null {
  const values = replicas.map(read).filter((value) => value !== null);
  return values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
}
