import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReferencedSecrets, SecretSets } from '@runyard/deployments';
import { Semaphore } from '@runyard/deployments';
import type { Cipher } from '@runyard/encryption';
import { AbandonedFiles } from '@runyard/object-storage';
import type { Ownership } from '@runyard/reconciler';
import { Reconciler } from '@runyard/reconciler';
import type { OpenRevisionLog } from '@runyard/revision-logs';
import { logSegments } from '@runyard/revision-logs';
import type { ServiceContext } from '@runyard/service-kit';
import { startHourlySweep } from '@runyard/service-kit';
import { DeploymentDatabases } from '../deployment-servers/deployment-databases.ts';
import { DeploymentRedis } from '../deployment-servers/deployment-redis.ts';
import type { AnyDriverRow } from '../drivers/drivers.ts';
import { DriversByArtifact } from '../drivers/drivers-by-artifact.ts';
import type { PullCredentialFactory } from '../drivers/pull-credential.ts';
import { RunningRevisions } from '../drivers/running-revisions.ts';
import { Autoscaler } from '../monitoring/autoscaler.ts';
import { DeploymentMonitor, type DeploymentMonitorOptions } from '../monitoring/deployment-monitor.ts';
import type { ScaleStore } from '../monitoring/scale-store.ts';
import { DeploymentRollout } from '../roll-outs/deployment-rollout.ts';
import type { RolloutDependencies } from '../roll-outs/rollout-dependencies.ts';
import type { DataPlaneSettings } from './data-plane-variables.ts';
import { platformSettings } from './platform-settings.ts';

/** The differences between data planes: whose deployments they run, and who gets their reports. */
export interface DataPlaneOptions {
  /** Run its deployments, at most one for each kind of artifact. */
  drivers: readonly AnyDriverRow[];
  /** The public base URL of the deployments. */
  publicUrl: string;
  /** The URL of the keys with which deployments verify principal tokens. */
  jwksUrl: string;
  /** Identifies this process among those that run deployments. */
  leaseOwner: string;
  ownership: Ownership;
  /** Milliseconds between sweeps over all deployments, which need no wake-up. */
  sweepMs: number;
  store: RolloutDependencies['store'];
  builds: RolloutDependencies['builds'];
  openLog: OpenRevisionLog;
  cipher: Cipher;
  secrets: SecretSets;
  /** Returns all URLs by which clients reach a deployment. */
  publicUrlsOf: RolloutDependencies['publicUrlsOf'];
  referenced: ReferencedSecrets;
  scales: ScaleStore;
  samples: DeploymentMonitorOptions['samples'];
  /** Provides the credentials for pulling deployments' images from the platform's registry. */
  credentials: PullCredentialFactory;
  /** Removes the files of a deleted deployment, except its logs. */
  removeFiles(deploymentId: string, driver: Pick<DriversByArtifact, 'removeLeftovers'>): Promise<void>;
  /**
   * Returns how deployments end when this process stops. By default they get the whole configured grace, and those that
   * can run on without this process do.
   */
  stopOptions(): { graceMs?: number; isReleased?: boolean };
}

export interface DataPlane {
  reconciler: Reconciler;
  /** Starts to run deployments and to measure them. */
  start(): void;
}

/** Milliseconds beyond their grace that deployments get before they are killed. */
const STOP_MARGIN_MS = 2_000;

/**
 * Opens the part that runs deployments: drivers, databases, roll-outs, logs and measurements. Nothing runs before
 * `start`, and everything ends with the service.
 */
export async function openDataPlane(
  config: DataPlaneSettings,
  options: DataPlaneOptions,
  { lifecycle, logger, metrics }: ServiceContext,
): Promise<DataPlane> {
  const { store, builds, openLog, cipher, secrets, publicUrlsOf, referenced, scales } = options;
  const { DATA_DIR: dataDir } = config;
  const running = new RunningRevisions();
  const databases = new DeploymentDatabases(config.DATA_POSTGRES_URI);
  const redis = new DeploymentRedis({ adminUri: config.DATA_REDIS_URI, users: config.DATA_REDIS_USERS, logger });
  lifecycle.onStop('Redis users', () => redis.close());
  const abandoned = new AbandonedFiles({ folders: [join(dataDir, 'logins')] });
  startHourlySweep('abandoned files', () => abandoned.sweep(), { lifecycle, logger });

  const { leaseOwner, credentials } = options;
  const driver = await DriversByArtifact.open(options.drivers, config, {
    openLog,
    running,
    countsBefore: (deploymentId: string) => scales.find(deploymentId),
    logger,
    platform: platformSettings(config, options),
    leaseOwner,
    credentials,
  });
  lifecycle.onStop('drivers', () => driver.close());
  const dependencies: RolloutDependencies = {
    store,
    driver,
    builds,
    databases,
    redis,
    secrets,
    publicUrlsOf,
    referenced,
    cipher,
    startSemaphore: new Semaphore(config.CONCURRENT_STARTS),
    deployTimeoutMs: config.DEPLOY_TIMEOUT_SECONDS * 1000,
    removeFiles: async (id) => {
      await rm(logSegments.folderOf(dataDir, id), { recursive: true, force: true });
      await options.removeFiles(id, driver);
    },
    logger,
  };
  const reconciler = new Reconciler({
    store,
    workOn: (id) => new DeploymentRollout(id, dependencies),
    ownership: options.ownership,
    sweepMs: options.sweepMs,
    logger,
  });
  const monitor = new DeploymentMonitor({
    running,
    databases,
    samples: options.samples,
    autoscaler: new Autoscaler({ coolDownMs: config.SCALE_DOWN_SECONDS * 1000, scales, logger }),
    metrics,
    everyMs: config.METRICS_SAMPLE_SECONDS * 1000,
    logger,
  });
  const graceSeconds = config.STOP_GRACE_SECONDS ?? config.BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS;
  const stopMs = graceSeconds * 1000 + STOP_MARGIN_MS;
  const stop = () => {
    const { graceMs = stopMs, isReleased = true } = options.stopOptions();
    return reconciler.stop(graceMs, { release: isReleased });
  };
  lifecycle.onStop('deployments', stop, { timeoutMs: stopMs + STOP_MARGIN_MS });
  lifecycle.onStop('monitor', () => monitor.stop());
  return {
    reconciler,
    start: () => {
      reconciler.start();
      monitor.start();
    },
  };
}
