import type { DeploymentMetricValues, Sample } from '@runyard/deployments';
import type pg from 'pg';

/** About two megabytes. */
const PAGE_ROWS = 4_000;

/** Stores the samples of deployments in the database, which all control-planes share. */
export class SampleStore {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Leaves out samples of deployments that were deleted meanwhile. */
  async insert(samples: Sample[]): Promise<void> {
    if (samples.length === 0) return;
    await this.#pool.query(
      `INSERT INTO deployment_sample (deployment_id, taken_at, figures)
       SELECT deployment.id, sample.taken_at, sample.figures
       FROM unnest($1::uuid[], $2::timestamptz[], $3::jsonb[]) AS sample (deployment_id, taken_at, figures)
       JOIN deployment ON deployment.id = sample.deployment_id
       ON CONFLICT DO NOTHING`,
      [
        samples.map((sample) => sample.deploymentId),
        samples.map((sample) => sample.takenAt),
        samples.map((sample) => JSON.stringify(sample.metrics)),
      ],
    );
  }

  /**
   * Yields the samples of a time, both ends inclusive, the oldest first. It reads pages, because a long retention is
   * too much for memory.
   */
  async *between(deploymentId: string, from: Date, to: Date): AsyncGenerator<Omit<Sample, 'deploymentId'>[]> {
    for (let after: Date | null = null; ; ) {
      const { rows }: pg.QueryResult<{ takenAt: Date; metrics: DeploymentMetricValues }> = await this.#pool.query(
        `SELECT taken_at AS "takenAt", figures AS metrics FROM deployment_sample
         WHERE deployment_id = $1 AND taken_at BETWEEN $2 AND $3 AND ($4::timestamptz IS NULL OR taken_at > $4)
         ORDER BY taken_at LIMIT $5`,
        [deploymentId, from, to, after, PAGE_ROWS],
      );
      yield rows;
      if (rows.length < PAGE_ROWS) return;
      after = rows.at(-1)?.takenAt ?? null;
    }
  }

  async removeBefore(time: Date): Promise<void> {
    await this.#pool.query('DELETE FROM deployment_sample WHERE taken_at < $1', [time]);
  }
}
