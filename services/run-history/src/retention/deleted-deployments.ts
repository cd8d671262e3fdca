import { withTransaction } from '@runyard/database';
import type { Logger } from '@runyard/service-kit';
import type pg from 'pg';
import { takeWriterLock } from '../writer-lock.ts';
import { DEPLOYMENT_TABLES, deleteInSteps } from './delete-in-steps.ts';

interface Dependencies {
  pool: pg.Pool;
  deployments: { listDeleted(): Promise<string[]> };
  logger: Logger;
}

/**
 * Removes everything of deployments that control-plane has deleted. Events are only hints: it is asked, so that nobody
 * can remove a history by writing to the bus.
 *
 * @throws AggregateError when some of them still have something: the others do not wait for them
 */
export async function removeDeletedDeployments(dependencies: Dependencies): Promise<void> {
  const errors: unknown[] = [];
  for (const deploymentId of await dependencies.deployments.listDeleted()) {
    await removeDeployment(dependencies, deploymentId).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} deleted deployments still have a history`);
}

/**
 * Marks the deployment first, under the lock of the writer: from then on nothing of it is written, by whichever process.
 * Its row goes last, so that a crash in between leaves the rest to the next round.
 */
async function removeDeployment({ pool, logger }: Dependencies, deploymentId: string): Promise<void> {
  await withTransaction(pool, async (client) => {
    await takeWriterLock(client);
    await client.query('UPDATE deployment SET is_deleted = true WHERE deployment_id = $1', [deploymentId]);
  });
  const ofDeployment = { condition: 'deployment_id = $1', values: [deploymentId] };
  let removed = 0;
  for (const table of DEPLOYMENT_TABLES) removed += await deleteInSteps(pool, table, ofDeployment);
  // Another process may remove it too, and have skipped rows that this one had locked.
  await pool.query(
    `DELETE FROM deployment WHERE deployment_id = $1${DEPLOYMENT_TABLES.map(
      (table) => ` AND NOT EXISTS (SELECT FROM ${table} WHERE deployment_id = $1)`,
    ).join('')}`,
    [deploymentId],
  );
  logger.info('history of a deleted deployment removed', { deploymentId, removed });
}
