import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OPEN_API_INFO, TOPICS } from '@runyard/contracts';
import { mapDatabaseOutages, reportPoolMetrics, retryStartStep } from '@runyard/database';
import { DeletedWorkspaces } from '@runyard/deleted-workspaces';
import {
  chooseDriverKinds,
  DeploymentTokens,
  findPodRules,
  HostNames,
  ProjectImages,
  ReferencedSecrets,
  runsArtifact,
  SecretSets,
} from '@runyard/deployments';
import { Cipher, createDataCipher } from '@runyard/encryption';
import { createEventBus, OutboxRelay } from '@runyard/event-bus';
import { openIdempotencyKeys } from '@runyard/idempotency';
import { RegistryAddress, RegistryService, RegistryTokens } from '@runyard/image-registry';
import { registerLeaseOwner } from '@runyard/leases';
import { AbandonedFiles, INCOMING, openObjectStorage, startObjectRemovals } from '@runyard/object-storage';
import { LeasedOwnership } from '@runyard/reconciler';
import { openLogs } from '@runyard/revision-logs';
import {
  createApp,
  createPrincipalVerifier,
  InternalClient,
  openEarlyListener,
  type ServiceContext,
  startHourlySweep,
  type Tenant,
  toEventBusConfig,
  withMiddleware,
} from '@runyard/service-kit';
import { Signals } from '@runyard/signals';
import { AgentNames } from './agents/agent-names.ts';
import { agentRoutes } from './agents/agent-routes.ts';
import { budgetRoutes, budgetSumRoutes } from './budgets/budget-routes.ts';
import { BudgetService } from './budgets/budget-service.ts';
import { BudgetSums } from './budgets/budget-sums.ts';
import { BuildArchives } from './builds/build-archives.ts';
import { BuildUrls } from './builds/build-urls.ts';
import { Builds } from './builds/builds.ts';
import { openBuildOrders } from './builds/open-build-orders.ts';
import type { Config } from './config.ts';
import { openDatabase } from './database/database.ts';
import { DeploymentKeys } from './deployments/deployment-keys.ts';
import { deploymentCountRoutes, deploymentRoutes } from './deployments/deployment-routes.ts';
import { DeploymentService } from './deployments/deployment-service.ts';
import { DeploymentView } from './deployments/deployment-view.ts';
import { DesiredState } from './deployments/desired-state.ts';
import { logRoutes } from './deployments/log-routes.ts';
import { LogService } from './deployments/log-service.ts';
import { metricsRoutes } from './deployments/metrics-routes.ts';
import { MetricsService } from './deployments/metrics-service.ts';
import { pushTokenRoutes } from './deployments/push-token-routes.ts';
import { revisionRoutes } from './deployments/revision-routes.ts';
import { RevisionService } from './deployments/revision-service.ts';
import { RolloutSignals } from './deployments/rollout-signals.ts';
import { SampleStore } from './deployments/sample-store.ts';
import { FormerOAuthRows } from './former-oauth-rows/former-oauth-rows.ts';
import { formerRowRoutes } from './former-oauth-rows/former-row-routes.ts';
import { haltRoutes } from './halts/halt-routes.ts';
import { HaltService } from './halts/halt-service.ts';
import { FormerImages } from './image-registry/former-image-rows.ts';
import { FormerImageTokens } from './image-registry/former-image-tokens.ts';
import { imageRoutes } from './image-registry/image-routes.ts';
import { openListeners } from './listeners/open-listeners.ts';
import { DeploymentPolicies } from './org-access/deployment-policies.ts';
import { requirePermissions } from './org-access/require-permissions.ts';
import { TaggedDeployments } from './org-access/tagged-deployments.ts';
import { WorkspaceSecrets } from './org-access/workspace-secrets.ts';
import { budgetStore } from './revisions/budgets/budget-store.ts';
import { objectsPrefix } from './revisions/deployment-objects.ts';
import { haltStore } from './revisions/halts/halt-store.ts';
import { routeRoutes } from './routing/route-routes.ts';
import { repositoryRules, type SourceRules } from './sources/check-source.ts';
import { githubSources } from './sources/github/github-source.ts';
import { integrationRoutes } from './sources/github/integration-routes.ts';
import { openIntegrations } from './sources/github/open-integrations.ts';
import { webhookRoutes } from './sources/github/webhook-routes.ts';
import { GithubWebhooks } from './sources/github/webhooks.ts';
import { openUploads } from './sources/uploads/open-uploads.ts';
import { uploadRoutes } from './sources/uploads/upload-routes.ts';
import { uploadSources } from './sources/uploads/uploaded-source.ts';
import { StorageQuota } from './storage-quota/storage-quota.ts';
import { deleteDeploymentsOf } from './workspaces/workspace-deployments.ts';
import { listWorkspacesInUse } from './workspaces/workspaces-in-use.ts';

/** The path is valid from `src/` and from `dist/`. */
export const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/** Bytes of one built project, unpacked (5 GiB), where data planes run it as processes. */
const BUILD_LIMIT_BYTES = 5 * 1024 ** 3;

/** Folders of DATA_DIR with temporary files: archives and objects. */
const TEMPORARY = ['uploads', 'archives', join('objects', INCOMING)];

/** org-access answers within milliseconds or not at all. */
const ORG_ACCESS_TIMEOUT_MS = 3_000;

export async function run(config: Config, context: ServiceContext): Promise<void> {
  const { lifecycle, logger } = context;
  const drivers = chooseDriverKinds(config);
  const hosts = new HostNames({
    publicUrl: config.PUBLIC_URL,
    domain: config.DEPLOYMENTS_DOMAIN,
    customDomains: config.CUSTOM_DOMAINS,
    registryUrl: config.REGISTRY_URL,
    serviceUrls: [config.ORG_ACCESS_URL],
    frontEndUrls: [config.OAUTH_CALLBACK_URL, config.OAUTH_FINISHED_URL].filter((url) => url !== undefined),
  });
  const cipher = new Cipher(config.ENCRYPTION_KEY);
  const secrets = new SecretSets(cipher);
  const deploymentTokens = new DeploymentTokens(config.ENCRYPTION_KEY);
  const deploymentKeys = new DeploymentKeys(cipher);
  const orgAccess = new InternalClient({
    service: 'org-access',
    url: config.ORG_ACCESS_URL,
    internalToken: config.INTERNAL_TOKEN,
    timeoutMs: ORG_ACCESS_TIMEOUT_MS,
  });
  const workspaceSecrets = new WorkspaceSecrets(orgAccess);
  const referenced = new ReferencedSecrets({ folder: config.SECRET_REFERENCES_DIR, ofWorkspaces: workspaceSecrets });
  const jwksUrl = new URL('/.well-known/jwks.json', config.ORG_ACCESS_URL).href;
  const earlyListener = await openEarlyListener({ host: config.HOST, port: config.PORT, context });
  const open = () =>
    openDatabase({
      connectionString: config.DATABASE_URI,
      poolSize: config.DATABASE_POOL_SIZE,
      preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
      migrationsDir,
    });
  const database = await retryStartStep(open, context);
  lifecycle.onStop('database', () => database.close());
  const { pool, prisma } = database;
  reportPoolMetrics(pool, context.metrics);

  const bus = createEventBus(toEventBusConfig(config, 'runyard-control-plane'), context);
  lifecycle.onStop('event bus', () => bus.close());
  const leaseOwner = await registerLeaseOwner({ dataDir: config.DATA_DIR, pool, logger });
  lifecycle.onStop('lease owner', () => leaseOwner.forget());
  const relay = new OutboxRelay({
    pool,
    bus,
    topics: [TOPICS.deployments.name],
    logger,
    metrics: context.metrics,
    leaseOwner: leaseOwner.id,
  });
  relay.start();
  database.onCommit(() => relay.wake());
  lifecycle.onStop('outbox relay', () => relay.stop());

  const view = new DeploymentView({ hosts, secrets });
  const openLog = openLogs(config, context);
  const storage = openObjectStorage(config);
  lifecycle.onStop('object storage', async () => storage.close());
  const removals = startObjectRemovals({ database, objects: storage, leaseOwner: leaseOwner.id, lifecycle, logger });
  const { REGISTRY_SERVICE_URL: registryUrl, INTERNAL_TOKEN: internalToken } = config;
  const registryService = new RegistryService({ url: registryUrl, internalToken });
  const quota = new StorageQuota({ pool, config, images: registryService });
  const tokens = new RegistryTokens(internalToken);
  const registry = { address: new RegistryAddress(config.REGISTRY_URL ?? config.PUBLIC_URL), tokens };
  const runsProjects = runsArtifact(drivers, 'project');
  const archives = new BuildArchives({
    ...{ objects: storage, pool, quota },
    temporaryFolder: join(config.DATA_DIR, 'archives'),
    disk: { folder: config.DATA_DIR, minFreeBytes: config.DISK_MIN_FREE_BYTES },
    limitBytes: BUILD_LIMIT_BYTES,
    timeoutMs: config.BUILD_TIMEOUT_SECONDS * 1000,
  });
  const sourceRules: SourceRules = {
    localProjects: config.LOCAL_PROJECTS,
    makesImages: config.PROJECT_BASE_IMAGE !== undefined,
    runsProjects,
    registry: registry.address,
    allowedNetworks: config.OUTBOUND_ALLOWED_NETWORKS,
    pods: findPodRules(drivers, config),
  };
  const integrations = openIntegrations({ database, cipher, rules: repositoryRules(sourceRules), lifecycle });
  const buildUrls = new BuildUrls(config.ENCRYPTION_KEY);
  const builds = new Builds({
    sources: {
      ...uploadSources(storage),
      ...githubSources({
        rules: repositoryRules(sourceRules),
        tokenOf: (revision) => integrations.tokenOf(revision),
      }),
    },
    secrets,
    referenced,
    openLog,
    timeoutMs: config.BUILD_TIMEOUT_SECONDS * 1000,
    archives,
    archiveBytesMax: BUILD_LIMIT_BYTES,
    urls: buildUrls,
    images: new ProjectImages({ registry: registryService, tokens }),
    registry: registryService,
    runsFolders: runsProjects,
  });
  const removeContent = async (id: string) => {
    await storage.removeBelow(objectsPrefix(id));
    await registryService.removeImages(id);
  };
  const ownership = new LeasedOwnership({ pool, leaseOwner: leaseOwner.id, leaseMs: config.LEASE_SECONDS * 1000 });
  const samples = new SampleStore(pool);
  const signals = new Signals(config.REDIS_URI, { channel: 'control-plane:listeners', logger });
  lifecycle.onStop('signals', () => signals.close());
  // Waiting requests are answered before their connections are closed.
  lifecycle.onDrain('waits for changes', () => signals.drain());
  const rollouts = new RolloutSignals({ prisma, signals, logger });
  const retentionMs = config.METRICS_RETENTION_HOURS * 3_600_000;
  startHourlySweep('samples', () => samples.removeBefore(new Date(Date.now() - retentionMs)), context);
  const abandoned = new AbandonedFiles({ folders: TEMPORARY.map((name) => join(config.DATA_DIR, name)) });
  startHourlySweep('abandoned files', () => abandoned.sweep(), context);

  const buildOrders = openBuildOrders(config, {
    ...{ database, builds, archives, objects: storage, urls: buildUrls, rollouts, ownership, runsProjects, context },
  });
  const listeners = openListeners(config, {
    ...{ database, secrets, deploymentTokens, deploymentKeys, samples, signals, rollouts, registry },
    ...{ cipher, hosts, orgAccess, workspaceSecrets, removeContent, archives, lifecycle, logger },
  });
  const desired = new DesiredState({ database, rollouts, sourceRules, referenced, hosts });
  const dependencies = { database, desired, secrets, view, rollouts };
  const revisions = new RevisionService(dependencies);
  const revisionsKept = config.REVISIONS_KEPT_PER_DEPLOYMENT;
  const uploads = openUploads({ config, database, storage, removals, quota, logger, leaseOwner: leaseOwner.id });
  uploads.start();
  lifecycle.onStop('uploads', () => uploads.stop());
  const webhooks = new GithubWebhooks({
    prisma,
    cipher,
    publicUrl: config.PUBLIC_URL,
    createRevision: (...push) => revisions.createOnce(...push),
  });
  const keys = openIdempotencyKeys(
    {
      pool,
      cipher: createDataCipher(config.ENCRYPTION_KEY),
      keptHours: config.IDEMPOTENCY_KEY_RETENTION_HOURS,
      validationErrors: 'list',
    },
    context,
  );
  const policies = new DeploymentPolicies(orgAccess);
  const principal = createPrincipalVerifier({ audience: 'control-plane', jwksUrl });
  const agents = new AgentNames({ prisma, tokens: deploymentTokens });
  const removeParts = [
    (tenant: Tenant) => deleteDeploymentsOf({ database, rollouts, logger }, tenant),
    (tenant: Tenant) => integrations.deleteAll(tenant),
    listeners.removeWorkspace,
    (tenant: Tenant) => agents.removeWorkspace(tenant),
    (tenant: Tenant) => haltStore.removeWorkspace(prisma, tenant),
    (tenant: Tenant) => budgetStore.removeWorkspace(prisma, tenant),
  ];
  const listInUse = () => listWorkspacesInUse(prisma);
  const deletedWorkspaces = new DeletedWorkspaces({ listInUse, orgAccess, removeParts, logger });
  deletedWorkspaces.start(lifecycle);
  bus
    .subscribe({
      topics: ['organizations'],
      group: 'control-plane-workspaces',
      from: 'earliest',
      onEvent: (event) => deletedWorkspaces.onEvent(event),
    })
    .catch((error: unknown) => {
      if (!lifecycle.isDraining) logger.error('event bus subscription failed', { error });
    });
  const app = createApp({
    context,
    validationErrors: 'list',
    internalToken: config.INTERNAL_TOKEN,
    principal: listeners.acceptKeys(principal),
    readiness: { database: async () => void (await pool.query('SELECT 1')) },
    openApi: OPEN_API_INFO['control-plane'],
    operations: withMiddleware(
      [
        ...deploymentRoutes(
          new DeploymentService(dependencies, {
            tagged: new TaggedDeployments(orgAccess),
            policies,
          }),
          keys,
        ),
        ...haltRoutes(new HaltService({ database, rollouts, logger })),
        ...budgetRoutes(new BudgetService({ database, rollouts }), keys),
        ...budgetSumRoutes(new BudgetSums({ database, rollouts })),
        ...revisionRoutes(revisions, keys),
        ...metricsRoutes(new MetricsService({ database, samples, everyMs: config.METRICS_SAMPLE_SECONDS * 1000 })),
        ...logRoutes(new LogService({ database, dataDir: config.DATA_DIR })),
        ...listeners.routes(keys),
        ...buildOrders.routes,
        ...routeRoutes(prisma, hosts),
        ...deploymentCountRoutes(prisma),
        ...agentRoutes(agents),
        ...formerRowRoutes(new FormerOAuthRows({ pool, cipher, logger })),
        ...imageRoutes({
          prisma,
          quota,
          former: new FormerImages(pool),
          formerTokens: new FormerImageTokens(cipher),
          revisionsKept,
        }),
        ...uploadRoutes(uploads, keys),
        ...pushTokenRoutes(database, registry, keys),
        ...integrationRoutes(integrations, keys),
        ...webhookRoutes(webhooks),
      ],
      [mapDatabaseOutages, requirePermissions(policies)],
    ),
  });
  earlyListener.serve(app);
  lifecycle.ready();
}
