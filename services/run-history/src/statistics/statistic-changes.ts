import type { StatisticsStep } from '@runyard/contracts';
import type { StoredRun } from '../runs/stored-run.ts';
import { startOfStep } from '../sums/step.ts';
import { bucketOf } from './latency-buckets.ts';

const ENDS = ['success', 'error', 'timeout', 'interrupted'] as const;

/** The numbers that statistics have, which are columns of their table too. */
export const COUNTED = ['created', ...ENDS, 'retried', 'input_tokens', 'output_tokens'] as const;
export type Counted = (typeof COUNTED)[number];

export const NOTHING = Object.fromEntries(COUNTED.map((each) => [each, 0])) as Record<Counted, number>;

export type Measure = 'duration' | 'queue';

/** The numbers that are added to those of one deployment, graph, and minute or day. */
export type StatisticRow = StatisticKey & Record<Counted, number>;

export type LatencyRow = StatisticKey & { measure: Measure; bucket: number; runs: number };

interface StatisticKey {
  deployment_id: string;
  step: StatisticsStep;
  /** ISO 8601, UTC. */
  start: string;
  graph_id: string;
}

const STEPS: readonly StatisticsStep[] = ['minute', 'day'];

/**
 * Gathers what changes of runs add to statistics. A run is looked at before and after each of its events, and counts once
 * for what it has become, so that an event that comes again counts for nothing.
 */
export class StatisticChanges {
  readonly #counts = new Map<string, StatisticRow>();
  readonly #latencies = new Map<string, LatencyRow>();

  get counts(): StatisticRow[] {
    return [...this.#counts.values()];
  }

  get latencies(): LatencyRow[] {
    return [...this.#latencies.values()];
  }

  /** @param time the time of the event, in ISO 8601 */
  add(before: StoredRun | undefined, after: StoredRun, time: string): void {
    if (!before?.created_at && after.created_at) this.#count(after, after.created_at, 'created', 1);
    if (before?.queue_ms == null && after.queue_ms !== null) {
      this.#measure(after, after.started_at!, 'queue', after.queue_ms);
    }
    for (const each of ['input_tokens', 'output_tokens'] as const) {
      const used = (after[each] ?? 0) - (before?.[each] ?? 0);
      if (used > 0) this.#count(after, time, each, used);
    }
    const retried = after.attempt - Math.max(1, before?.attempt ?? 1);
    if (retried > 0) this.#count(after, time, 'retried', retried);
    if (before?.ended_at || !after.ended_at) return;
    const end = ENDS.find((each) => each === after.status);
    if (end) this.#count(after, after.ended_at, end, 1);
    if (after.duration_ms !== null) this.#measure(after, after.ended_at, 'duration', after.duration_ms);
  }

  #count(run: StoredRun, time: string, counted: Counted, by: number): void {
    for (const step of STEPS) {
      const key = keyOf(run, time, step);
      const text = textOf(key);
      const row = this.#counts.get(text) ?? { ...key, ...NOTHING };
      row[counted] += by;
      this.#counts.set(text, row);
    }
  }

  #measure(run: StoredRun, time: string, measure: Measure, ms: number): void {
    for (const step of STEPS) {
      const row = { ...keyOf(run, time, step), measure, bucket: bucketOf(ms), runs: 0 };
      const text = textOf(row);
      const known = this.#latencies.get(text) ?? row;
      known.runs += 1;
      this.#latencies.set(text, known);
    }
  }
}

function keyOf(run: StoredRun, time: string, step: StatisticsStep): StatisticKey {
  return { deployment_id: run.deployment_id, step, start: startOfStep(time, step), graph_id: run.graph_id ?? '' };
}

function textOf(key: StatisticKey & { measure?: Measure; bucket?: number }): string {
  const { deployment_id, step, start, measure, bucket, graph_id } = key;
  return [deployment_id, step, start, measure, bucket, graph_id].join(' ');
}
