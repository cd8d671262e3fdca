import type { Metrics } from '@runyard/service-kit';
import type pg from 'pg';
import { RUN_COUNTERS, RUN_HISTOGRAMS } from './run-metrics.ts';

type Samples = Map<string, number>;
/** The samples of each metric, by the metric's name. */
export type RunMetricTotals = Map<string, Samples>;

const NAMES = [...Object.values(RUN_COUNTERS), ...Object.values(RUN_HISTOGRAMS)].map(({ name }) => name);

/** Reads the counts of all workers of the deployment. */
export async function readRunMetrics(db: pg.Pool): Promise<RunMetricTotals> {
  const { rows } = await db.query<{ metric: string; sample: string; value: number }>({
    name: 'engine_run_metrics',
    text: 'SELECT metric, sample, value FROM run_metric',
  });
  const totals: RunMetricTotals = new Map(NAMES.map((name) => [name, new Map()]));
  for (const { metric, sample, value } of rows) totals.get(metric)?.set(sample, value);
  return totals;
}

/**
 * Adds the counts of this process to the totals of the deployment. Counts since the last report are lost when the
 * process is killed.
 */
export class RunMetricReport {
  readonly #db: pg.Pool;
  readonly #metrics: Metrics;
  readonly #reported = new Map<string, number>();
  #reporting: Promise<void> = Promise.resolve();

  constructor(db: pg.Pool, metrics: Metrics) {
    this.#db = db;
    this.#metrics = metrics;
  }

  /** Sends one report at a time: two would add the same counts. */
  report(): Promise<void> {
    const next = this.#reporting.then(() => this.#report());
    this.#reporting = next.catch(() => undefined);
    return next;
  }

  async #report(): Promise<void> {
    const counted = await this.#readSamples();
    const grown = counted.filter(({ key, value }) => value > (this.#reported.get(key) ?? 0));
    if (grown.length === 0) return;
    await this.#db.query(
      `INSERT INTO run_metric (metric, sample, value)
       SELECT counted.* FROM unnest($1::text[], $2::text[], $3::float8[]) AS counted (metric, sample, value),
                             (SELECT set_config('synchronous_commit', 'off', true)) AS lax ORDER BY 1, 2
       ON CONFLICT (metric, sample) DO UPDATE SET value = run_metric.value + excluded.value`,
      [
        grown.map(({ metric }) => metric),
        grown.map(({ sample }) => sample),
        grown.map(({ key, value }) => value - (this.#reported.get(key) ?? 0)),
      ],
    );
    for (const { key, value } of grown) this.#reported.set(key, value);
  }

  async #readSamples(): Promise<{ key: string; metric: string; sample: string; value: number }[]> {
    const counted = await Promise.all(
      NAMES.map(async (metric) =>
        [...(await this.#metrics.samplesOf(metric))].map(([sample, value]) => ({
          key: `${metric} ${sample}`,
          metric,
          sample,
          value,
        })),
      ),
    );
    return counted.flat();
  }
}
