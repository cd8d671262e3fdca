import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { removeRuns } from './remove-runs.ts';

interface Dependencies {
  pool: pg.Pool;
  deployments: { listDeleted(): Promise<string[]> };
  logger: Logger;
}

/**
 * Removes everything of deployments that control-plane does not have any more. Events are only hints: it is asked, so
 * that nobody can remove a history by writing to the bus. The row of a deployment goes last, so that a crash in between
 * leaves the rest to the next round.
 */
export async function removeDeletedDeployments({ pool, deployments, logger }: Dependencies): Promise<void> {
  for (const deploymentId of await deployments.listDeleted()) {
    const removed = await removeRuns(pool, { deploymentId });
    for (const table of ['run_statistic', 'run_latency', 'deployment']) {
      await pool.query(`DELETE FROM ${table} WHERE deployment_id = $1`, [deploymentId]);
    }
    logger.info('history of a deleted deployment removed', { deploymentId, removed });
  }
}
