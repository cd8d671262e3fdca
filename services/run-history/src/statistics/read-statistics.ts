import { type RunStatistics, type RunStatisticsRequest, STATISTICS_POINTS_MAX } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { InvalidFieldError } from '@runyard/service-kit';
import type pg from 'pg';
import type { RunScope } from '../access/visible-deployments.ts';
import { readTime } from '../read-time.ts';
import { percentileOf } from './latency-buckets.ts';
import { COUNTED, type Counted, type Measure, NOTHING, startOfStep } from './statistic-changes.ts';

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

function selectionOf(
  { organizationId, workspaceId, deploymentIds }: RunScope,
  { start_time, end_time, step, deployment_ids, graph_ids }: RunStatisticsRequest,
): { values: unknown[]; condition: string } {
  const start = startOfStep(readTime(start_time, 'start_time').toISOString(), step);
  const end = end_time === undefined ? new Date() : readTime(end_time, 'end_time');
  const points = (end.getTime() - Date.parse(start)) / STEP_MS[step];
  if (points <= 0) throw new InvalidFieldError(['body', 'end_time'], 'Must be later than start_time');
  if (points > STATISTICS_POINTS_MAX) {
    const told = `At most ${STATISTICS_POINTS_MAX} times: choose a later start_time, an earlier end_time, or days`;
    throw new InvalidFieldError(['body', 'start_time'], told);
  }
  const values: unknown[] = [organizationId, workspaceId, step, start, end];
  const conditions = [
    'deployment_id IN (SELECT deployment_id FROM deployment WHERE organization_id = $1 AND workspace_id = $2)',
    'step = $3 AND start >= $4 AND start < $5',
  ];
  for (const ids of [deploymentIds, deployment_ids]) {
    if (ids) conditions.push(`deployment_id = ANY($${values.push(ids)}::uuid[])`);
  }
  if (graph_ids) conditions.push(`graph_id = ANY($${values.push(graph_ids.map(toSqlText))}::text[])`);
  return { values, condition: conditions.join(' AND ') };
}
