import { type RunStatistics, type RunStatisticsRequest, STATISTICS_POINTS_MAX } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import type pg from 'pg';
import type { RunScope } from '../access/visible-deployments.ts';
import { readSelectedTime, selectSums } from '../sums/selection.ts';
import { percentileOf } from './latency-buckets.ts';
import { COUNTED, type Counted, type Measure, NOTHING } from './statistic-changes.ts';

const STEP_MS = { minute: 60_000, day: 86_400_000 } as const;

type Figures = RunStatistics['total'];

/** The numbers of one point, or of all of them, while they are gathered. */
class Gathered {
  readonly #counts = { ...NOTHING };
  readonly #latencies: Record<Measure, Map<number, number>> = { duration: new Map(), queue: new Map() };

  addCounts(counts: Record<Counted, number>): void {
    for (const each of COUNTED) this.#counts[each] += counts[each];
  }

  addLatency(measure: Measure, bucket: number, runs: number): void {
    const counts = this.#latencies[measure];
    counts.set(bucket, (counts.get(bucket) ?? 0) + runs);
  }

  get figures(): Figures {
    const percentilesOf = (measure: Measure) => ({
      p50: percentileOf(this.#latencies[measure], 0.5),
      p95: percentileOf(this.#latencies[measure], 0.95),
      p99: percentileOf(this.#latencies[measure], 0.99),
    });
    return { ...this.#counts, duration_ms: percentilesOf('duration'), queue_ms: percentilesOf('queue') };
  }
}

interface CountRow extends Record<Counted, number> {
  start: Date;
}

interface LatencyRow {
  start: Date;
  measure: Measure;
  bucket: number;
  runs: number;
}

/** Reads numbers of runs by minute or day. @throws InvalidFieldError when these are too many, or none */
export async function readStatistics(
  pool: pg.Pool,
  scope: RunScope,
  request: RunStatisticsRequest,
): Promise<RunStatistics> {
  const { values, condition } = selectionOf(scope, request);
  const { rows: counts } = await pool.query<CountRow>(
    `SELECT start, ${COUNTED.map((each) => `sum(${each})::float8 AS ${each}`).join(', ')}
     FROM run_statistic WHERE ${condition} GROUP BY start`,
    values,
  );
  const { rows: latencies } = await pool.query<LatencyRow>(
    `SELECT start, measure, bucket, sum(runs)::float8 AS runs FROM run_latency WHERE ${condition}
     GROUP BY start, measure, bucket`,
    values,
  );
  const points = new Map<number, Gathered>();
  const total = new Gathered();
  const pointAt = (start: Date) => {
    const point = points.get(start.getTime()) ?? new Gathered();
    points.set(start.getTime(), point);
    return point;
  };
  for (const row of counts) {
    for (const gathered of [pointAt(row.start), total]) gathered.addCounts(row);
  }
  for (const { start, measure, bucket, runs } of latencies) {
    for (const gathered of [pointAt(start), total]) gathered.addLatency(measure, bucket, runs);
  }
  const sorted = [...points].sort(([one], [other]) => one - other);
  return {
    points: sorted.map(([time, gathered]) => ({ time: new Date(time).toISOString(), ...gathered.figures })),
    total: total.figures,
  };
}

function selectionOf(scope: RunScope, request: RunStatisticsRequest): { values: unknown[]; condition: string } {
  const time = readSelectedTime(request, request.step);
  if ((time.end.getTime() - time.start.getTime()) / STEP_MS[request.step] > STATISTICS_POINTS_MAX) {
    const told = `At most ${STATISTICS_POINTS_MAX} times: choose a later start_time, an earlier end_time, or days`;
    throw new InvalidFieldError(['body', 'start_time'], told);
  }
  return selectSums(scope, time, [
    ['deployment_id', 'uuid', request.deployment_ids],
    ['graph_id', 'text', request.graph_ids],
  ]);
}
