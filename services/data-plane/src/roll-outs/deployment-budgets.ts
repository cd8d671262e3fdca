import { sqlState } from '@runyard/database';
import type { DesiredBudgets } from '@runyard/deployments';
import type { Cipher } from '@runyard/encryption';
import type { Logger } from '@runyard/service-kit';
import type { DeploymentDatabases } from '../deployment-servers/deployment-databases.ts';
import { UNDEFINED_DATABASE } from '../deployment-servers/missing-schema.ts';
import { AppliedState, type Progress } from './applied-state.ts';
import { findDatabaseAccess } from './revision-specs.ts';
import type { RolloutStore } from './rollout-store.ts';

export interface DeploymentBudgetsOptions {
  deploymentId: string;
  store: Pick<RolloutStore, 'find' | 'findBudgets' | 'reportBudgets'>;
  databases: Pick<DeploymentDatabases, 'applyBudgets' | 'accessTo'>;
  cipher: Pick<Cipher, 'decrypt'>;
  logger: Logger;
}

/** Milliseconds between looks while the database is not reached. */
const AGAIN_MS = 1_000;
const OUTDATED = 'The agent server of this deployment is of an earlier release, which knows no budgets';
const UNREACHABLE = 'The database of this deployment cannot be reached';

/** Writes the budgets of one deployment into its own database, where its servers and workers count on them. */
export function openDeploymentBudgets(options: DeploymentBudgetsOptions): AppliedState {
  const { deploymentId, store, logger } = options;
  const look = async (settled: number | undefined): Promise<Progress | undefined> => {
    const desired = await store.findBudgets(deploymentId);
    if (!desired || desired.version === settled) return undefined;
    const { version } = desired;
    const message = await write(options, desired);
    await store.reportBudgets(deploymentId, { version, is_reached: message === null, message });
    // A later release of the server comes with a revision, which applies them again.
    return message === UNREACHABLE ? { againMs: AGAIN_MS } : { settled: version };
  };
  return new AppliedState({ name: 'budgets', look, logger });
}

/** Returns why the deployment does not have them; null when it has. */
async function write(
  { deploymentId, store, databases, cipher, logger }: DeploymentBudgetsOptions,
  { budgets, exhausted }: DesiredBudgets,
): Promise<string | null> {
  try {
    const deployment = await store.find(deploymentId);
    const access = deployment && findDatabaseAccess({ databases, cipher }, deployment);
    // Without a database nothing has ever run.
    if (!access) return null;
    return (await databases.applyBudgets(access, { budgets, exhausted })) ? null : OUTDATED;
  } catch (error) {
    if (sqlState(error) === UNDEFINED_DATABASE) return null;
    logger.error('budgets not applied, will retry', { error });
    return UNREACHABLE;
  }
}
