import type pg from 'pg';
import type { DeploymentFigures } from './deployment-figures.ts';

export interface Sample {
  deploymentId: string;
  takenAt: Date;
  figures: DeploymentFigures;
}

/** What was measured of deployments, where every control-plane finds it. */
export class SampleStore {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Those of deployments that are gone by now are left out. */
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
        samples.map((sample) => JSON.stringify(sample.figures)),
      ],
    );
  }

  /** Oldest first; both ends belong to it. */
  async between(deploymentId: string, from: Date, to: Date): Promise<Omit<Sample, 'deploymentId'>[]> {
    const { rows } = await this.#pool.query<{ takenAt: Date; figures: DeploymentFigures }>(
      `SELECT taken_at AS "takenAt", figures FROM deployment_sample
       WHERE deployment_id = $1 AND taken_at BETWEEN $2 AND $3
       ORDER BY taken_at`,
      [deploymentId, from, to],
    );
    return rows;
  }

  async removeBefore(time: Date): Promise<void> {
    await this.#pool.query('DELETE FROM deployment_sample WHERE taken_at < $1', [time]);
  }
}
