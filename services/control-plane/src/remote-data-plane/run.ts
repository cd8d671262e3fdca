import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getSigningKeys } from '@runyard/contracts';
import { Sealer } from '@runyard/sealing';
import { createApp, openDoorway, type ServiceContext } from '@runyard/service-kit';
import { Builds } from '../builds/builds.ts';
import { DeploymentDatabases } from '../data-plane/deployment-databases.ts';
import { ContainerDriver } from '../drivers/container/container-driver.ts';
import { DriversByArtifact } from '../drivers/drivers-by-artifact.ts';
import { ProcessDriver } from '../drivers/process/process-driver.ts';
import { RunningRevisions } from '../drivers/running-revisions.ts';
import { LogRetention } from '../logs/log-retention.ts';
import { logSegments } from '../logs/log-segments.ts';
import { revisionLogsIn } from '../logs/revision-log.ts';
import { Autoscaler } from '../monitoring/autoscaler.ts';
import { DeploymentMonitor } from '../monitoring/deployment-monitor.ts';
import { Reconciler } from '../reconciler/reconciler.ts';
import { Slots } from '../reconciler/slots.ts';
import { ReferencedSecrets } from '../secrets/secret-references.ts';
import { SecretSets } from '../secrets/secret-set.ts';
import type { Config } from './config.ts';
import { ControlPlaneClient } from './control-plane-client.ts';
import { ControlPlaneLink } from './control-plane-link.ts';
import { ForwardedSamples } from './forwarded-samples.ts';
import { ingressRoutes } from './ingress-routes.ts';
import { KeptState } from './kept-state.ts';
import { ProjectsBelow } from './projects-below.ts';
import { RemoteRolloutStore } from './remote-rollout-store.ts';

const VERSION = '0.1.0';
/** What deployments get beyond their grace to close before they are ended by force. */
const STOP_MARGIN_MS = 2_000;
/** A safety net: changes are acted on at once when they are heard of. */
const SWEEP_MS = 30_000;
/** Nothing that was measured is kept here. */
const METRICS_RETENTION_MS = 0;

/** Runs the deployments of one listener of a platform elsewhere. Nobody has to reach this process for that. */
export async function run(config: Config, context: ServiceContext): Promise<void> {
  const { lifecycle, logger } = context;
  const sealer = new Sealer(config.ENCRYPTION_KEY);
  const secrets = new SecretSets(sealer);
  const referenced = new ReferencedSecrets(config.SECRET_REFERENCES_DIR);
  const doorway = await openDoorway({ host: config.HOST, port: config.PORT, context });
  const kept = await KeptState.open(config.DATA_DIR, sealer);
  const { instanceId } = kept.state;

  const client = new ControlPlaneClient({
    url: config.CONTROL_PLANE_URL,
    apiKey: config.API_KEY,
    workspaceId: config.WORKSPACE_ID,
    listenerId: config.LISTENER_ID,
  });
  let isLost = false;
  const link = new ControlPlaneLink({
    client,
    instanceId,
    version: VERSION,
    publicUrl: config.PUBLIC_URL ?? null,
    onDesired: async (deployments) => {
      for (const id of await store.accept(deployments)) reconciler.changed(id);
    },
    onLost: (reason) => {
      isLost = true;
      logger.error('nothing may run here any more', { reason });
      void lifecycle.stop('this data plane does not speak for the listener any more');
    },
    logger,
  });
  const store = new RemoteRolloutStore({ kept, client, link, secrets, logger });

  const openLog = revisionLogsIn(config.DATA_DIR, logger);
  const logRetention = new LogRetention({
    dataDir: config.DATA_DIR,
    retentionDays: config.LOG_RETENTION_DAYS,
    bytesPerDeploymentMax: config.LOG_MAX_BYTES_PER_DEPLOYMENT,
    logger,
  });
  logRetention.start();
  lifecycle.onStop('log retention', () => logRetention.stop());
  const platform = {
    host: config.DEPLOYMENTS_HOST,
    publicUrl: config.PUBLIC_URL ?? config.CONTROL_PLANE_URL,
    jwksUrl: config.PLATFORM_JWKS_URL ?? new URL(getSigningKeys.path, doorway.url).href,
    redisUri: config.DATA_REDIS_URI,
    graceSeconds: config.BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS,
    outboundNetworks: config.OUTBOUND_ALLOWED_NETWORKS,
    logLevel: config.LOG_LEVEL,
    eventBus: {
      kind: config.EVENT_BUS,
      kafkaBrokers: config.KAFKA_BROKERS,
      redisUri: config.EVENT_BUS_REDIS_URI,
      topicPrefix: config.TOPIC_PREFIX,
    },
  };
  const running = new RunningRevisions();
  const databases = new DeploymentDatabases(config.DATA_POSTGRES_URI);
  const keeping = { openLog, running, logger, platform };
  const containers = new ContainerDriver({
    ...keeping,
    command: config.CONTAINER_ENGINE_COMMAND,
    network: config.CONTAINER_NETWORK,
    holder: instanceId,
    scratch: join(config.DATA_DIR, 'logins'),
    // Images of the platform's own registry are not run here.
    credentialFor: () => undefined,
  });
  const processes = new ProcessDriver({
    ...keeping,
    agentApiEntry: config.AGENT_API_COMMAND,
    runWorkerEntry: config.RUN_WORKER_COMMAND,
  });
  const reconciler = new Reconciler({
    // The lease of the listener is that of all its deployments.
    ownership: { leaseMs: SWEEP_MS, acquire: async () => true, release: async () => undefined },
    sweepMs: SWEEP_MS,
    logger,
    parts: {
      store,
      driver: new DriversByArtifact({ project: new ProjectsBelow(config.PROJECTS_DIR, processes), image: containers }),
      // What is run here comes as it is.
      builds: new Builds({
        dataDir: config.DATA_DIR,
        sources: {},
        secrets,
        referenced,
        openLog,
        slots: new Slots(1),
        timeoutMs: 0,
      }),
      databases,
      dataRedisUri: config.DATA_REDIS_URI,
      secrets,
      referenced,
      sealer,
      startSlots: new Slots(config.CONCURRENT_STARTS),
      deployTimeoutMs: config.DEPLOY_TIMEOUT_SECONDS * 1000,
      removeFiles: (id) => rm(logSegments.folderOf(config.DATA_DIR, id), { recursive: true, force: true }),
      logger,
    },
  });
  const monitor = new DeploymentMonitor({
    running,
    databases,
    samples: new ForwardedSamples({ client, link }),
    autoscaler: new Autoscaler({ coolDownMs: config.SCALE_DOWN_SECONDS * 1000, logger }),
    metrics: context.metrics,
    everyMs: config.METRICS_SAMPLE_SECONDS * 1000,
    retentionMs: METRICS_RETENTION_MS,
    logger,
  });
  monitor.start();
  const graceMs = config.BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS * 1000 + STOP_MARGIN_MS;
  lifecycle.onStop('deployments', () => reconciler.stop(isLost ? 0 : graceMs), { timeoutMs: graceMs + STOP_MARGIN_MS });
  lifecycle.onStop('monitor', () => monitor.stop());
  // Before: a roll-out that waits to say something would be waited for.
  lifecycle.onStop('link to the control plane', () => link.stop());

  const app = createApp({
    context,
    internalToken: config.INTERNAL_TOKEN,
    operations: ingressRoutes({ store, client, link, kept, logger }),
  });
  doorway.serve(app);
  await link.begin();
  reconciler.start();
  link.start();
  lifecycle.ready();
}
