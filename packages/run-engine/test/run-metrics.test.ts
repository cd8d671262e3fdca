import { Metrics } from '@runyard/service-kit';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RunMetricReport, readRunMetrics } from '../src/metrics/run-metric-totals.ts';
import { RUN_COUNTERS, RUN_HISTOGRAM_BUCKETS, RUN_HISTOGRAMS } from '../src/metrics/run-metrics.ts';
import { type EngineFixture, openEngine } from './engine-fixture.ts';

let fixture: EngineFixture;
beforeAll(async () => {
  fixture = await openEngine();
});
afterAll(() => fixture?.close());

const { succeeded } = RUN_COUNTERS;
const { executionLatency } = RUN_HISTOGRAMS;

/** Makes the metrics of one worker. */
function counting(db: pg.Pool) {
  const metrics = new Metrics();
  return {
    runs: metrics.counter(succeeded.name, succeeded.help),
    latency: metrics.histogram(executionLatency.name, executionLatency.help, [], RUN_HISTOGRAM_BUCKETS),
    report: new RunMetricReport(db, metrics),
  };
}

it('counts of workers are added up once, even when a report failed or two are requested at a time', async () => {
  const [one, other] = [counting(fixture.pool), counting(fixture.pool)];
  one.runs.inc(2);
  one.latency.observe(70);
  other.runs.inc();
  other.latency.observe(5_000_000);
  await Promise.all([one.report.report(), one.report.report(), other.report.report()]);
  await one.report.report();

  let isAway = true;
  const query: pg.Pool['query'] = (...args: never[]) => {
    if (isAway) throw new Error('the database is away');
    return (fixture.pool.query as (...args: never[]) => never)(...args);
  };
  const late = counting({ query } as pg.Pool);
  late.runs.inc(4);
  await expect(late.report.report()).rejects.toThrow('away');
  isAway = false;
  await late.report.report();

  const totals = await readRunMetrics(fixture.pool);
  expect(totals.get(succeeded.name)).toEqual(new Map([['', 7]]));
  const latencies = totals.get(executionLatency.name)!;
  expect(['50', '100', '+Inf', 'count', 'sum'].map((sample) => latencies.get(sample) ?? 0)).toEqual([
    0, 1, 2, 2, 5_000_070,
  ]);
});
