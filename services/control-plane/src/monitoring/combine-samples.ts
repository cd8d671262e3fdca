import type { DeploymentFigures } from './deployment-figures.ts';

interface Taken {
  takenAt: Date;
  figures: DeploymentFigures;
}

/** What is counted since the sample before; the rest is so at a moment. */
const COUNTED: ReadonlySet<string> = new Set([
  'restarts',
  'runs_succeeded',
  'runs_failed',
  'requests',
  'request_errors',
]);
/** A mean of these says nothing: the worst is shown. */
const WORST: ReadonlySet<string> = new Set([
  'run_latency_ms_p50',
  'run_latency_ms_p95',
  'request_latency_ms_p50',
  'request_latency_ms_p95',
]);

/** One sample for each step of time: counts are added, latencies the highest, everything else the mean. In order of time. */
export function combine(samples: Taken[], stepMs: number): Taken[] {
  const steps = new Map<number, Taken[]>();
  for (const sample of samples) {
    const step = Math.floor(sample.takenAt.getTime() / stepMs);
    steps.set(step, [...(steps.get(step) ?? []), sample]);
  }
  return [...steps.values()].map((taken) => (taken.length === 1 ? taken[0]! : combined(taken)));
}

function combined(taken: Taken[]): Taken {
  const last = taken.at(-1)!;
  const names = Object.keys(last.figures) as (keyof DeploymentFigures)[];
  const figures = Object.fromEntries(names.map((name) => [name, combinedValue(name, taken)]));
  return { takenAt: last.takenAt, figures: figures as DeploymentFigures };
}

function combinedValue(name: keyof DeploymentFigures, taken: Taken[]): number | null {
  const values = taken.map(({ figures }) => figures[name]).filter((value) => value !== null);
  if (values.length === 0) return null;
  if (WORST.has(name)) return Math.max(...values);
  const total = values.reduce((sum, value) => sum + value, 0);
  return COUNTED.has(name) ? total : total / values.length;
}
