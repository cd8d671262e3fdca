import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OPEN_API_INFO } from '@runyard/contracts';
import { openKeys, tellingOutages, untilAvailable } from '@runyard/database';
import { createEventBus, OutboxRelay } from '@runyard/event-bus';
import { Sealer, sealedAtRest } from '@runyard/sealing';
import {
  createApp,
  createPrincipalVerifier,
  eventBusConfig,
  openDoorway,
  type ServiceContext,
} from '@runyard/service-kit';
import { Builds } from './builds/builds.ts';
import type { Config } from './config.ts';
import { DeploymentDatabases } from './data-plane/deployment-databases.ts';
import { openDatabase } from './database/database.ts';
import { deploymentRoutes } from './deployments/deployment-routes.ts';
import { DeploymentService } from './deployments/deployment-service.ts';
import { DeploymentView } from './deployments/deployment-view.ts';
import { DesiredState } from './deployments/desired-state.ts';
import { DriversByArtifact } from './drivers/drivers-by-artifact.ts';
import { openImageDriver } from './drivers/open-image-driver.ts';
import { ProcessDriver } from './drivers/process/process-driver.ts';
import { RunningRevisions } from './drivers/running-revisions.ts';
import { openHolder } from './duties/holder-note.ts';
import { openListeners } from './listeners/open-listeners.ts';
import { LogRetention } from './logs/log-retention.ts';
import { logRoutes } from './logs/log-routes.ts';
import { logSegments } from './logs/log-segments.ts';
import { LogService } from './logs/log-service.ts';
import { revisionLogsIn } from './logs/revision-log.ts';
import { Autoscaler } from './monitoring/autoscaler.ts';
import { DeploymentMonitor } from './monitoring/deployment-monitor.ts';
import { metricsRoutes } from './monitoring/metrics-routes.ts';
import { MetricsService } from './monitoring/metrics-service.ts';
import { SampleStore } from './monitoring/sample-store.ts';
import { ScaleMemory } from './monitoring/scale-memory.ts';
import { openOAuthBroker } from './oauth/open-oauth-broker.ts';
import { openObjectStorage } from './object-storage/open-object-storage.ts';
import { LeasedOwnership } from './reconciler/ownership.ts';
import { Reconciler } from './reconciler/reconciler.ts';
import { PostgresRolloutStore } from './reconciler/rollout-store.ts';
import { Slots } from './reconciler/slots.ts';
import { pushTokenRoutes } from './registry/push-token-routes.ts';
import { openRegistry } from './registry/registry.ts';
import { revisionRoutes } from './revisions/revision-routes.ts';
import { RevisionService } from './revisions/revision-service.ts';
import { routeRoutes } from './routing/route-routes.ts';
import { AbandonedFiles, scratchFolders } from './scratch/abandoned-files.ts';
import { ReferencedSecrets } from './secrets/secret-references.ts';
import { SecretSets } from './secrets/secret-set.ts';
import { repositoryRules, type SourceRules } from './sources/check-source.ts';
import { githubSources } from './sources/github/github-source.ts';
import { integrationRoutes } from './sources/github/integration-routes.ts';
import { openIntegrations } from './sources/github/open-integrations.ts';
import { webhookRoutes } from './sources/github/webhook-routes.ts';
import { GithubWebhooks } from './sources/github/webhooks.ts';
import { ranImages } from './sources/image-sources.ts';
import { openUploads } from './sources/uploads/open-uploads.ts';
import { uploadRoutes } from './sources/uploads/upload-routes.ts';
import { objectsPrefix, uploadSources } from './sources/uploads/uploaded-source.ts';

/** Both `src/` and `dist/` lie beside it. */
const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
/** What deployments get beyond their grace to close before they are ended by force. */
const STOP_MARGIN_MS = 2_000;

export async function run(config: Config, context: ServiceContext): Promise<void> {
  const { lifecycle, logger } = context;
  const sealer = new Sealer(config.ENCRYPTION_KEY);
  const secrets = new SecretSets(sealer);
  const referenced = new ReferencedSecrets(config.SECRET_REFERENCES_DIR);
  const jwksUrl = new URL('/.well-known/jwks.json', config.ORG_ACCESS_URL).href;
  const doorway = await openDoorway({ host: config.HOST, port: config.PORT, context });
  const { DATABASE_URI: connectionString, DATABASE_POOL_SIZE: poolSize } = config;
  const open = () => openDatabase({ connectionString, poolSize, migrationsDir });
  const database = await untilAvailable(open, context);
  lifecycle.onStop('database', () => database.close());
  const { pool, prisma } = database;

  const bus = createEventBus(eventBusConfig(config, 'runyard-control-plane'), context);
  lifecycle.onStop('event bus', () => bus.close());
  const holder = await openHolder({ dataDir: config.DATA_DIR, pool, logger });
  lifecycle.onStop('note of leases', () => holder.forget());
  const relay = new OutboxRelay({ pool, bus, logger, metrics: context.metrics, holder: holder.id });
  relay.start();
  database.onChange(() => relay.kick());
  lifecycle.onStop('outbox relay', () => relay.stop());

  const view = new DeploymentView({ publicUrl: config.PUBLIC_URL, secrets });
  const openLog = revisionLogsIn(config.DATA_DIR, logger);
  const logRetention = new LogRetention({
    dataDir: config.DATA_DIR,
    retentionDays: config.LOG_RETENTION_DAYS,
    bytesPerDeploymentMax: config.LOG_MAX_BYTES_PER_DEPLOYMENT,
    logger,
  });
  logRetention.start();
  lifecycle.onStop('log retention', () => logRetention.stop());
  const running = new RunningRevisions();
  const databases = new DeploymentDatabases(config.DATA_POSTGRES_URI);
  const platform = {
    host: config.DEPLOYMENTS_HOST,
    publicUrl: config.PUBLIC_URL,
    jwksUrl,
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
  const storage = openObjectStorage(config);
  lifecycle.onStop('object storage', async () => storage.close());
  const abandoned = new AbandonedFiles({ folders: scratchFolders(config.DATA_DIR), logger });
  abandoned.start();
  lifecycle.onStop('abandoned files', () => abandoned.stop());
  const registry = openRegistry({
    database,
    objects: storage,
    scratch: join(config.DATA_DIR, 'registry'),
    sealer,
    url: config.REGISTRY_URL ?? config.PUBLIC_URL,
    blobLimitBytes: config.REGISTRY_BLOB_LIMIT_BYTES,
  });
  const scales = new ScaleMemory({ pool, logger });
  const countsBefore = (deploymentId: string) => scales.of(deploymentId);
  const keeping = { openLog, running, countsBefore, logger, platform };
  const images = await openImageDriver(config, { ...keeping, holder: holder.id, registry });
  lifecycle.onStop('image driver', async () => images.close?.());
  const driver = new DriversByArtifact({
    project: new ProcessDriver({
      ...keeping,
      agentApiEntry: config.AGENT_API_COMMAND,
      runWorkerEntry: config.RUN_WORKER_COMMAND,
    }),
    image: images,
  });
  const sourceRules: SourceRules = {
    localProjects: config.LOCAL_PROJECTS,
    registry: registry.address,
    allowedNetworks: config.OUTBOUND_ALLOWED_NETWORKS,
  };
  const integrations = openIntegrations({ database, sealer, rules: repositoryRules(sourceRules), lifecycle });
  const builds = new Builds({
    dataDir: config.DATA_DIR,
    sources: {
      ...uploadSources(storage),
      ...githubSources({
        prisma,
        rules: repositoryRules(sourceRules),
        dataDir: config.DATA_DIR,
        tokenOf: (revision) => integrations.tokenOf(revision),
      }),
    },
    secrets,
    referenced,
    openLog,
    slots: new Slots(config.CONCURRENT_BUILDS),
    timeoutMs: config.BUILD_TIMEOUT_SECONDS * 1000,
  });
  const reconciler = new Reconciler({
    ownership: new LeasedOwnership({ pool, holder: holder.id, leaseMs: config.LEASE_SECONDS * 1000 }),
    sweepMs: config.SWEEP_SECONDS * 1000,
    logger,
    parts: {
      store: new PostgresRolloutStore(database),
      driver,
      builds,
      databases,
      dataRedisUri: config.DATA_REDIS_URI,
      secrets,
      referenced,
      sealer,
      startSlots: new Slots(config.CONCURRENT_STARTS),
      deployTimeoutMs: config.DEPLOY_TIMEOUT_SECONDS * 1000,
      removeFiles: async (id) => {
        await rm(logSegments.folderOf(config.DATA_DIR, id), { recursive: true, force: true });
        await builds.remove(id);
        await storage.removeBelow(objectsPrefix(id));
        await registry.removeImages(id);
        if (await ranImages(prisma, id)) await images.removeLeftovers(id);
      },
      logger,
    },
  });
  reconciler.start();
  const samples = new SampleStore(pool);
  const sampleEveryMs = config.METRICS_SAMPLE_SECONDS * 1000;
  const monitor = new DeploymentMonitor({
    running,
    databases,
    samples,
    autoscaler: new Autoscaler({ coolDownMs: config.SCALE_DOWN_SECONDS * 1000, scales, logger }),
    metrics: context.metrics,
    everyMs: sampleEveryMs,
    retentionMs: config.METRICS_RETENTION_HOURS * 3_600_000,
    logger,
  });
  monitor.start();
  const stopMs = config.BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS * 1000 + STOP_MARGIN_MS;
  lifecycle.onStop('deployments', () => reconciler.stop(stopMs), { timeoutMs: stopMs + STOP_MARGIN_MS });
  lifecycle.onStop('monitor', () => monitor.stop());

  const listeners = openListeners(config, { database, secrets, samples, here: reconciler, lifecycle, logger });
  const { rollouts } = listeners;
  const desired = new DesiredState({ database, rollouts, sourceRules, referenced });
  const wanted = { database, desired, secrets, view, rollouts };
  const revisions = new RevisionService(wanted);
  const uploads = openUploads({ config, prisma, pool, storage, logger, holder: holder.id });
  uploads.start();
  lifecycle.onStop('uploads', () => uploads.close());
  const webhooks = new GithubWebhooks({
    prisma,
    sealer,
    publicUrl: config.PUBLIC_URL,
    createRevision: (...push) => revisions.createOnce(...push),
  });
  const keys = openKeys(
    {
      pool,
      seal: sealedAtRest(config.ENCRYPTION_KEY),
      keptHours: config.IDEMPOTENCY_KEY_RETENTION_HOURS,
      validationErrors: 'list',
    },
    context,
  );
  const oauth = openOAuthBroker(config, { database, bus, sealer, keys, lifecycle, logger });
  const app = createApp({
    context,
    validationErrors: 'list',
    internalToken: config.INTERNAL_TOKEN,
    principal: createPrincipalVerifier({ audience: 'control-plane', jwksUrl }),
    readiness: { database: async () => void (await pool.query('SELECT 1')) },
    openApi: OPEN_API_INFO['control-plane'],
    before: [registry.handler],
    operations: [
      ...deploymentRoutes(new DeploymentService(wanted), keys),
      ...revisionRoutes(revisions, keys),
      ...metricsRoutes(new MetricsService({ database, samples, everyMs: sampleEveryMs })),
      ...logRoutes(new LogService({ database, dataDir: config.DATA_DIR })),
      ...listeners.routes(keys),
      ...oauth,
      ...routeRoutes(prisma),
      ...uploadRoutes(uploads),
      ...pushTokenRoutes(prisma, registry),
      ...integrationRoutes(integrations, keys),
      ...webhookRoutes(webhooks),
    ].map(tellingOutages),
  });
  doorway.serve(app);
  lifecycle.ready();
}
