import { sqlState } from '@runyard/database';
import type { DesiredHalt, HaltOutcome, HaltProgress } from '@runyard/deployments';
import type { Cipher } from '@runyard/encryption';
import type { Logger } from '@runyard/service-kit';
import type { DeploymentDatabases } from '../deployment-servers/deployment-databases.ts';
import { UNDEFINED_COLUMN, UNDEFINED_DATABASE, UNDEFINED_TABLE } from '../deployment-servers/missing-schema.ts';
import { AppliedState, type Progress } from './applied-state.ts';
import { findDatabaseAccess } from './revision-specs.ts';
import type { RolloutStore } from './rollout-store.ts';

export interface DeploymentHaltOptions {
  deploymentId: string;
  store: Pick<RolloutStore, 'find' | 'findHalt' | 'reportHalt'>;
  databases: Pick<DeploymentDatabases, 'applyHalt' | 'accessTo'>;
  cipher: Pick<Cipher, 'decrypt'>;
  logger: Logger;
}

/** Milliseconds between looks while there are runs to cancel, or the database was not reached. */
const AGAIN_MS = 1_000;
/** Milliseconds between looks at a deployment in which nothing runs: its servers may still be counting what they ended. */
const QUIET_AGAIN_MS = 10_000;
const NOTHING: HaltProgress = { runsCancelled: 0, runsInFlight: 0, runsQueued: 0 };

/**
 * Writes the halt of one deployment into its own database, where its servers and workers read it, and reports how far
 * that is until the resume.
 */
export function openDeploymentHalt(options: DeploymentHaltOptions): AppliedState {
  const { deploymentId, store, logger } = options;
  const look = async (settled: number | undefined): Promise<Progress | undefined> => {
    const desired = await store.findHalt(deploymentId);
    if (!desired || desired.version === settled) return undefined;
    const outcome = await write(options, desired);
    await store.reportHalt(deploymentId, outcome);
    if (outcome.is_reached && desired.reason === null) return { settled: desired.version };
    const isQuiet = outcome.is_reached && !hasRunsToCancel(desired, outcome);
    return { againMs: isQuiet ? QUIET_AGAIN_MS : AGAIN_MS };
  };
  return new AppliedState({ name: 'halt', look, logger });
}

async function write(
  { deploymentId, store, databases, cipher, logger }: DeploymentHaltOptions,
  desired: DesiredHalt,
): Promise<HaltOutcome> {
  try {
    const deployment = await store.find(deploymentId);
    const access = deployment && findDatabaseAccess({ databases, cipher }, deployment);
    // Without a database nothing has ever run.
    return toOutcome(desired, access ? await databases.applyHalt(access, desired) : NOTHING);
  } catch (error) {
    const state = sqlState(error);
    if (state === UNDEFINED_TABLE || state === UNDEFINED_DATABASE) return toOutcome(desired, NOTHING);
    logger.error('halt not applied, will retry', { error });
    const message =
      state === UNDEFINED_COLUMN
        ? 'The agent server of this deployment is of an earlier release, which cannot be halted'
        : 'The database of this deployment cannot be reached';
    return { ...toOutcome(desired, NOTHING), is_reached: false, message };
  }
}

function hasRunsToCancel({ cancelsQueued }: DesiredHalt, { runs_in_flight, runs_queued }: HaltOutcome): boolean {
  return runs_in_flight > 0 || (cancelsQueued && runs_queued > 0);
}

function toOutcome({ version }: DesiredHalt, { runsCancelled, runsInFlight, runsQueued }: HaltProgress): HaltOutcome {
  const runs = { runs_cancelled: runsCancelled, runs_in_flight: runsInFlight, runs_queued: runsQueued };
  return { version, is_reached: true, ...runs, message: null };
}
