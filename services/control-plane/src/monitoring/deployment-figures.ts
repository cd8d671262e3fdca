import type { DeploymentMetricsPoint } from '@runyard/contracts';
import type { Role } from '../drivers/scale-bounds.ts';
import type { PartReading, Reading } from './part-readings.ts';
import { quantile, type ServiceFigures } from './service-figures.ts';

export type DeploymentFigures = Omit<DeploymentMetricsPoint, 'time'>;

export interface DatabaseFigures {
  bytes: number;
  connections: number;
}

/**
 * Computes the metrics of the time between two samples. Counts include processes that were sampled before, and those
 * that started since. Counts from before the first sample, or from a time without samples of a process, are left out,
 * as their time is unknown.
 */
export function figuresBetween(
  before: Reading | undefined,
  now: Reading,
  database: DatabaseFigures | undefined,
): DeploymentFigures {
  const between = new Between(before, now);
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
    runs_succeeded: between.grown(worker, 'runsSucceeded'),
    runs_failed: between.grown(worker, 'runsFailed'),
    run_latency_ms_p50: quantile(runLatency, 0.5),
    run_latency_ms_p95: quantile(runLatency, 0.95),
    requests: between.grown(api, 'requests'),
    request_errors: between.grown(api, 'requestErrors'),
    request_latency_ms_p50: quantile(requestLatency, 0.5),
    request_latency_ms_p95: quantile(requestLatency, 0.95),
    database_bytes: database?.bytes ?? null,
    database_connections: database?.connections ?? null,
  };
}

type Count = {
  [Name in keyof ServiceFigures]-?: ServiceFigures[Name] extends number | undefined ? Name : never;
}[keyof ServiceFigures];

class Between {
  readonly #now: Reading;
  readonly #earlier: Map<string, PartReading>;
  /** Null without an earlier sample. */
  readonly #beforeMs: number | null;

  constructor(before: Reading | undefined, now: Reading) {
    this.#now = now;
    this.#beforeMs = before?.atMs ?? null;
    this.#earlier = new Map(before?.parts.map((part) => [keyOf(part), part]));
  }

  replicas(role: Role): number {
    return this.#of(role).filter(({ url }) => url !== null).length;
  }

  cpuCores(role: Role): number | null {
    const seconds = (this.#now.atMs - (this.#beforeMs ?? this.#now.atMs)) / 1000;
    if (seconds <= 0) return null;
    return sum(this.#of(role), (part) => {
      if (!part.usage) return null;
      if ('cpuCores' in part.usage) return part.usage.cpuCores;
      const { cpuSeconds } = part.usage;
      const earlier = this.#before(
        part,
        ({ usage }) => (usage && 'cpuSeconds' in usage ? usage.cpuSeconds : undefined),
        0,
      );
      // A child process that ended takes its CPU time with it, so the difference may be negative.
      return earlier === undefined ? null : Math.max(cpuSeconds - earlier, 0) / seconds;
    });
  }

  memoryBytes(role: Role): number | null {
    return sum(this.#of(role), ({ usage }) => usage?.memoryBytes ?? null);
  }

  restarts(): number | null {
    if (this.#beforeMs === null) return null;
    return this.#now.parts.reduce((total, part) => {
      const earlier = this.#earlier.get(keyOf(part))?.restarts ?? 0;
      return total + Math.max(part.restarts - earlier, 0);
    }, 0);
  }

  latest(role: Role, name: Count): number | null {
    const told = this.#of(role).map(({ figures }) => figures?.[name]);
    return told.find((value) => value !== undefined) ?? null;
  }

  grown(role: Role, name: Count): number | null {
    return sum(this.#of(role), (part) => {
      const value = part.figures?.[name];
      const earlier = this.#before(part, ({ figures }) => figures?.[name], 0);
      return value === undefined || earlier === undefined ? null : Math.max(value - earlier, 0);
    });
  }

  buckets(role: Role, name: 'requestLatency' | 'runLatency'): Map<number, number> {
    const total = new Map<number, number>();
    for (const part of this.#of(role)) {
      const earlier = this.#before(part, ({ figures }) => figures?.[name], new Map<number, number>());
      if (!earlier) continue;
      for (const [bound, value] of part.figures?.[name] ?? []) {
        total.set(bound, (total.get(bound) ?? 0) + Math.max(value - (earlier.get(bound) ?? 0), 0));
      }
    }
    return total;
  }

  #of(role: Role): PartReading[] {
    return this.#now.parts.filter((part) => part.role === role);
  }

  /**
   * Returns a value of the same process at the earlier sample; `nothing` for a process that started since; undefined
   * when it is unknown.
   */
  #before<T>(part: PartReading, read: (part: PartReading) => T | undefined, nothing: T): T | undefined {
    if (this.#beforeMs === null) return undefined;
    const earlier = this.#earlier.get(keyOf(part));
    const isSame = earlier?.restarts === part.restarts && earlier.pid === part.pid;
    return isSame ? read(earlier) : nothing;
  }
}

const keyOf = (part: PartReading) => `${part.revisionId}/${part.name}`;

/** Returns null when no part has the value. */
function sum(parts: PartReading[], read: (part: PartReading) => number | null): number | null {
  const values = parts.map(read).filter((value) => value !== null);
  return values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
}
