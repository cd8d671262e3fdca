import { sqlState } from '@runyard/database';
import type { DesiredHalt, HaltOutcome, HaltProgress } from '@runyard/deployments';
import type { Cipher } from '@runyard/encryption';
import type { Logger } from '@runyard/service-kit';
import type { DeploymentDatabases } from '../deployment-servers/deployment-databases.ts';
import { UNDEFINED_COLUMN, UNDEFINED_TABLE } from '../deployment-servers/missing-schema.ts';
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
const UNDEFINED_DATABASE = '3D000';

/**
 * Writes the halt of one deployment into its own database, where its servers and workers read it, and reports how far
 * that is until the resume. It works beside roll-outs, which may take minutes.
 */
export class DeploymentHalt {
  readonly #options: DeploymentHaltOptions;
  #applying: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  /** The version with which nothing is left to do. */
  #settled: number | undefined;
  #isStopped = false;

  constructor(options: DeploymentHaltOptions) {
    this.#options = options;
  }

  /** Applies what is desired now. Calls are serialized. Never rejects: what fails is tried again. */
  apply(): Promise<void> {
    this.#applying = this.#applying.then(() => this.#apply());
    return this.#applying;
  }

  /** Applies it again: the tables of the database may be new. */
  reapply(): Promise<void> {
    this.#settled = undefined;
    return this.apply();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #apply(): Promise<void> {
    const { deploymentId, store, logger } = this.#options;
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    let againMs = AGAIN_MS;
    try {
      const desired = await store.findHalt(deploymentId);
      if (!desired || desired.version === this.#settled) return;
      const outcome = await this.#write(desired);
      await store.reportHalt(deploymentId, outcome);
      if (outcome.is_reached && desired.reason === null) {
        this.#settled = desired.version;
        return;
      }
      if (outcome.is_reached && !hasRunsToCancel(desired, outcome)) againMs = QUIET_AGAIN_MS;
    } catch (error) {
      logger.warn('halt not reported, will retry', { error });
    }
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.apply(), againMs).unref();
  }

  async #write(desired: DesiredHalt): Promise<HaltOutcome> {
    const { deploymentId, store, databases, cipher, logger } = this.#options;
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
}

function hasRunsToCancel({ cancelsQueued }: DesiredHalt, { runs_in_flight, runs_queued }: HaltOutcome): boolean {
  return runs_in_flight > 0 || (cancelsQueued && runs_queued > 0);
}

function toOutcome({ version }: DesiredHalt, { runsCancelled, runsInFlight, runsQueued }: HaltProgress): HaltOutcome {
  const runs = { runs_cancelled: runsCancelled, runs_in_flight: runsInFlight, runs_queued: runsQueued };
  return { version, is_reached: true, ...runs, message: null };
}
