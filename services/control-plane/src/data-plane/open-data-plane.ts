import { rm } from 'node:fs/promises';
import type { Cipher } from '@runyard/encryption';
import { AbandonedFiles } from '@runyard/object-storage';
import type { ServiceContext } from '@runyard/service-kit';
import { Semaphore } from '../compute/semaphore.ts';
import { DeploymentDatabases } from '../deployment-servers/deployment-databases.ts';
import { DeploymentRedis } from '../deployment-servers/deployment-redis.ts';
import type { DeploymentTokens } from '../deployments/deployment-tokens.ts';
import type { HostNames } from '../deployments/host-names.ts';
import type { AnyDriverRow } from '../drivers/drivers.ts';
import { DriversByArtifact } from '../drivers/drivers-by-artifact.ts';
import { RunningRevisions } from '../drivers/running-revisions.ts';
import { startHourlySweep } from '../hourly-sweep.ts';
import { logSegments } from '../logs/log-segments.ts';
import type { OpenRevisionLog } from '../logs/revision-log.ts';
import { Autoscaler } from '../monitoring/autoscaler.ts';
import { DeploymentMonitor, type DeploymentMonitorOptions } from '../monitoring/deployment-monitor.ts';
import type { ScaleStore } from '../monitoring/scale-store.ts';
import { DeploymentRollout } from '../reconciler/deployment-rollout.ts';
import type { Ownership } from '../reconciler/ownership.ts';
import { Reconciler } from '../reconciler/reconciler.ts';
import type { RolloutDependencies } from '../reconciler/rollout-dependencies.ts';
import type { PullCredentialFactory } from '../revisions/pull-credential.ts';
import type { ReferencedSecrets } from '../secrets/secret-references.ts';
import type { SecretSets } from '../secrets/secret-set.ts';
import { temporaryFolders } from '../temporary-files/temporary-folders.ts';
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
  /** Absent on a remote data plane, which gets them with the secrets of its deployments. */
  deploymentTokens?: DeploymentTokens;
  /** Absent on a remote data plane as well. */
  keysOf?: RolloutDependencies['keysOf'];
  /** Knows the addresses of deployments. */
  hosts: Pick<HostNames, 'urlsOf'>;
  referenced: ReferencedSecrets;
  scales: ScaleStore;
  samples: DeploymentMonitorOptions['samples'];
  /** Milliseconds that samples are kept. */
  samplesMs: number;
  /** Provides the credentials for pulling deployments' images from the platform's registry. */
  credentials: PullCredentialFactory;
  /** Called when nothing of a deleted deployment is left. */
  onGone?(deploymentId: string): void;
  /** Removes the files of a deleted deployment, except its logs. */
  removeFiles?(deploymentId: string, driver: Pick<DriversByArtifact, 'removeLeftovers'>): Promise<void>;
  /**
   * Returns how deployments end when this process stops. By default they get the whole configured grace, and those that
   * can run on without this process do.
   */
  stopOptions?(): { graceMs?: number; isReleased?: boolean };
}

export interface DataPlane {
  reconciler: Reconciler;
  /** Starts to run deployments and to measure them. */
  start(): void;
}

/** Milliseconds beyond their grace that deployments get before they are killed. */
const STOP_MARGIN_MS = 2_000;

/**
 * Opens the part that runs deployments: drivers, databases, roll-outs, logs and measurements. The platform opens one
 * for its own deployments; a remote data plane opens one for those of its listener. Nothing runs before `start`, and
 * everything ends with the service.
 */
export async function openDataPlane(
  config: DataPlaneSettings,
  options: DataPlaneOptions,
  { lifecycle, logger, metrics }: ServiceContext,
): Promise<DataPlane> {
  const { store, builds, openLog, cipher, secrets, deploymentTokens, hosts, referenced, scales } = options;
  const { DATA_DIR: dataDir } = config;
  const running = new RunningRevisions();
  const databases = new DeploymentDatabases(config.DATA_POSTGRES_URI);
  const redis = new DeploymentRedis({ adminUri: config.DATA_REDIS_URI, users: config.DATA_REDIS_USERS, logger });
  lifecycle.onStop('Redis users', () => redis.close());
  const abandoned = new AbandonedFiles({ folders: temporaryFolders(dataDir) });
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
    ...(deploymentTokens && { deploymentTokens }),
    ...(options.keysOf && { keysOf: options.keysOf }),
    hosts,
    referenced,
    cipher,
    startSemaphore: new Semaphore(config.CONCURRENT_STARTS),
    deployTimeoutMs: config.DEPLOY_TIMEOUT_SECONDS * 1000,
    removeFiles: async (id) => {
      await rm(logSegments.folderOf(dataDir, id), { recursive: true, force: true });
      await options.removeFiles?.(id, driver);
    },
    logger,
  };
  const reconciler = new Reconciler({
    store,
    workOn: (id) => new DeploymentRollout(id, dependencies),
    ownership: options.ownership,
    sweepMs: options.sweepMs,
    ...(options.onGone && { onGone: options.onGone }),
    logger,
  });
  const monitor = new DeploymentMonitor({
    running,
    databases,
    samples: options.samples,
    autoscaler: new Autoscaler({ coolDownMs: config.SCALE_DOWN_SECONDS * 1000, scales, logger }),
    metrics,
    everyMs: config.METRICS_SAMPLE_SECONDS * 1000,
    retentionMs: options.samplesMs,
    logger,
  });
  const stopMs = config.BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS * 1000 + STOP_MARGIN_MS;
  const stop = () => {
    const { graceMs = stopMs, isReleased = true } = options.stopOptions?.() ?? {};
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
