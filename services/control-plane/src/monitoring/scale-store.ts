import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import type { Counts, ReplicaRole } from '../compute/scale-bounds.ts';

/** Keeps the last process counts of deployments for the next start, after a restart or with a new revision. */
export interface ScaleStore {
  /** Never waits and never throws: a count that is lost is decided again. */
  store(deploymentId: string, role: ReplicaRole, count: number): void;
  /** Returns the counts of the roles that were scaled before. */
  find(deploymentId: string): Promise<Counts>;
}

/** Keeps the counts in the database, which all control-planes share. */
export class PostgresScaleStore implements ScaleStore {
  readonly #pool: pg.Pool;
  readonly #logger: Logger;

  constructor(options: { pool: pg.Pool; logger: Logger }) {
    this.#pool = options.pool;
    this.#logger = options.logger;
  }

  store(deploymentId: string, role: ReplicaRole, count: number): void {
    this.#pool
      .query(
        `INSERT INTO deployment_scale (deployment_id, role, count)
         SELECT id, $2, $3 FROM deployment WHERE id = $1
         ON CONFLICT (deployment_id, role) DO UPDATE SET count = excluded.count`,
        [deploymentId, role, count],
      )
      .catch((error: unknown) => {
        this.#logger.warn('process count not stored', { deploymentId, role, count, error });
      });
  }

  async find(deploymentId: string): Promise<Counts> {
    const { rows } = await this.#pool.query<{ role: ReplicaRole; count: number }>(
      'SELECT role, count FROM deployment_scale WHERE deployment_id = $1',
      [deploymentId],
    );
    return Object.fromEntries(rows.map(({ role, count }) => [role, count]));
  }
}
