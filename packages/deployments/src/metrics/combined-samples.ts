import type { DeploymentMetricValues } from './sample.ts';

interface TimedMetrics {
  takenAt: Date;
  metrics: DeploymentMetricValues;
}

/** Metrics that count since the previous sample. All others are values at a time. */
const COUNTERS: ReadonlySet<string> = new Set([
  'restarts',
  'runs_succeeded',
  'runs_failed',
  'requests',
  'request_errors',
]);
/** Metrics whose mean says nothing, so that the highest value is shown. */
const MAXIMA: ReadonlySet<string> = new Set([
  'run_latency_ms_p50',
  'run_latency_ms_p95',
  'request_latency_ms_p50',
  'request_latency_ms_p95',
]);

type Name = keyof DeploymentMetricValues;

interface Sum {
  total: number;
  count: number;
  highest: number;
}

interface Step {
  takenAt: Date;
  metrics: DeploymentMetricValues;
  sums: Map<Name, Sum>;
}

/**
 * Combines samples to one for each step of time: counts are added, latencies are the highest, all others the mean. Its
 * memory depends on the number of steps only.
 */
export class CombinedSamples {
  readonly #stepMs: number;
  readonly #steps = new Map<number, Step>();

  constructor(stepMs: number) {
    this.#stepMs = stepMs;
  }

  /** Adds a sample. They have to come in order of time. */
  add({ takenAt, metrics }: TimedMetrics): void {
    const number = Math.floor(takenAt.getTime() / this.#stepMs);
    const step: Step = { takenAt, metrics, sums: this.#steps.get(number)?.sums ?? new Map() };
    this.#steps.set(number, step);
    for (const [name, value] of Object.entries(metrics) as [Name, number | null][]) {
      if (value === null) continue;
      const { total, count, highest } = step.sums.get(name) ?? { total: 0, count: 0, highest: -Infinity };
      step.sums.set(name, { total: total + value, count: count + 1, highest: Math.max(highest, value) });
    }
  }

  /** Returns the combined samples, each with the time of its last sample. */
  all(): TimedMetrics[] {
    return [...this.#steps.values()].map(({ takenAt, metrics, sums }) => {
      const names = Object.keys(metrics) as Name[];
      const combined = Object.fromEntries(names.map((name) => [name, combinedValue(name, sums.get(name))]));
      return { takenAt, metrics: combined as DeploymentMetricValues };
    });
  }
}

/** Returns null when none of the samples had the value. */
function combinedValue(name: Name, sum: Sum | undefined): number | null {
  if (!sum) return null;
  if (MAXIMA.has(name)) return sum.highest;
  return COUNTERS.has(name) ? sum.total : sum.total / sum.count;
}
