import { fileURLToPath } from 'node:url';
import { PostgresCheckpoints } from '@runyard/checkpointer';
import { OPEN_API_INFO } from '@runyard/contracts';
import { applyMigrations, openPool, tellingOutages } from '@runyard/database';
import { createEventBus, OutboxRelay } from '@runyard/event-bus';
import { openProject, startGraphHost, threadRetentionSettings } from '@runyard/graph-host';
import { ApiServers, RunEngine, RunWakeups, Signals, type SignalsOptions } from '@runyard/run-engine';
import { RunStreams } from '@runyard/run-stream';
import { atRestWith } from '@runyard/sealing';
import {
  countConnectionsTo,
  createApp,
  deploymentMetricsOf,
  eventBusConfig,
  listen,
  listenForMetrics,
  type ReadinessChecks,
  type ServiceContext,
} from '@runyard/service-kit';
import { openAssistants } from './assistants/open-assistants.ts';
import { principalsOf } from './authentication.ts';
import type { Config } from './config.ts';
import { cronRoutes } from './crons/cron-routes.ts';
import { openCrons } from './crons/open-crons.ts';
import { openFeedback } from './feedback/open-feedback.ts';
import { httpSettings } from './http/http-settings.ts';
import { locatedBelow, mounted } from './http/mount-prefix.ts';
import { registerDeploymentMetrics } from './meta/deployment-metrics.ts';
import { metaRoutes } from './meta/meta-routes.ts';
import { askingPermission } from './permissions.ts';
import { openPrisma } from './prisma.ts';
import { Announcement, reachableUrl } from './project/announcement.ts';
import { OwnServer } from './project/own-server.ts';
import { openProjectApp } from './project/project-app.ts';
import { refuseUnmetProtection } from './project/refused-settings.ts';
import { logOfProject, ServingHost } from './project/serving-host.ts';
import { tellingRefusedData } from './refused-data.ts';
import { RunAnswers } from './runs/run-answers.ts';
import { runRoutes } from './runs/run-routes.ts';
import { RunService } from './runs/run-service.ts';
import { tellDeleted } from './runs/tell-ended.ts';
import { tracingProjectOf } from './runs/tracing-project.ts';
import { openStore } from './store/open-store.ts';
import { OpenResponses } from './streams/open-responses.ts';
import { RunWatch } from './streams/run-watch.ts';
import { tellStateUpdate } from './streams/tell-state-update.ts';
import { threadStreamRoutes } from './streams/thread-stream-routes.ts';
import { createThreadWatch } from './streams/thread-watch.ts';
import { retentionRoutes } from './threads/retention-routes.ts';
import { stateRoutes } from './threads/state-routes.ts';
import { StateService } from './threads/state-service.ts';
import { ThreadRetention } from './threads/thread-retention.ts';
import { threadRoutes } from './threads/thread-routes.ts';
import { ThreadService } from './threads/thread-service.ts';
import { ThreadStore } from './threads/thread-store.ts';
import { afterDeletion, createThreadSweeper } from './threads/thread-upkeep.ts';
import { openWebhooks } from './webhooks/open-webhooks.ts';

/** Bundled, the migrations lie beside this file; from source, with the package whose tables they make. */
const migrationsDir = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../../../packages/run-engine/prisma/migrations' : './migrations',
    import.meta.url,
  ),
);

export async function run(config: Config, context: ServiceContext): Promise<void> {
  const { lifecycle, logger, metrics } = context;
  metrics.identify(deploymentMetricsOf(config));
  const redis = { max: config.REDIS_MAX_CONNECTIONS, open: countConnectionsTo(config.REDIS_URI, 6379) };
  const callers = principalsOf(config, logger);
  const { project, aesKey, ...location } = await openProject(config, process.env);
  const atRest = atRestWith(aesKey);
  for (const warning of project.warnings) logger.warn(warning);
  refuseUnmetProtection(project, { ...process.env, ...location.environment });
  const http = httpSettings(project.http, config);
  const own = await OwnServer.open();
  lifecycle.onStop('own server', () => own.close());
  const principal = own.knowing(callers);

  const host = new ServingHost({
    logger,
    start: (onExit) =>
      startGraphHost({
        role: 'serve',
        ...location,
        loopback: own.loopback,
        ...(config.GRAPH_HOST_HEAP_MB !== undefined && { heapLimitMb: config.GRAPH_HOST_HEAP_MB }),
        onLog: logOfProject(logger),
        onExit,
      }),
  });
  lifecycle.onStop('graph host', () => host.close());
  const hostStarted = host.start();
  hostStarted.catch(() => undefined); // Awaited below; until then the migrations may fail first.

  const pool = openPool({
    connectionString: config.DATABASE_URI,
    max: config.DATABASE_POOL_SIZE,
    min: config.DATABASE_POOL_MIN_SIZE,
    connectTimeoutMs: config.DATABASE_POOL_TIMEOUT_SECONDS * 1000,
    applicationName: 'runyard-agent-api',
    onConnectionLost: (error) => logger.warn('a connection to Postgres was lost', { error }),
  });
  lifecycle.onStop('database', () => pool.end());
  await applyMigrations(pool, migrationsDir);
  const prisma = openPrisma(pool);
  lifecycle.onStop('prisma', () => prisma.$disconnect());

  // The Redis of the deployment is a bus too where no other is named.
  const busVariables = { ...config, EVENT_BUS_REDIS_URI: config.EVENT_BUS_REDIS_URI ?? config.REDIS_URI };
  const bus = createEventBus(eventBusConfig(busVariables, `runyard-agent-api-${config.DEPLOYMENT_ID}`), context);
  lifecycle.onStop('event bus', () => bus.close());
  const relay = new OutboxRelay({ pool, bus, logger, metrics });
  relay.start();
  lifecycle.onStop('outbox relay', () => relay.stop());

  const streams = new RunStreams({
    redis: config.REDIS_URI,
    keyPrefix: config.REDIS_KEY_PREFIX,
    resumableTtlMs: config.RESUMABLE_STREAM_TTL_SECONDS * 1000,
  });
  lifecycle.onStop('run streams', () => streams.close());
  const wakeups = new RunWakeups({
    redis: config.REDIS_URI,
    keyPrefix: config.REDIS_KEY_PREFIX,
    onError: (error) => logger.debug('workers could not be woken', { error }),
  });
  lifecycle.onStop('wake-ups', () => wakeups.close());
  const openSignals = (topic: SignalsOptions['topic']) => {
    const signals = new Signals({
      redis: config.REDIS_URI,
      keyPrefix: config.REDIS_KEY_PREFIX,
      topic,
      onError: (error) => logger.debug('other processes could not be told of news', { topic, error }),
    });
    lifecycle.onStop(`signals about ${topic}`, () => signals.close());
    return signals;
  };
  const webhookSignals = openSignals('webhooks');

  const retention = threadRetentionSettings(project);
  const engine = new RunEngine({
    pool,
    deploymentId: config.DEPLOYMENT_ID,
    source: `/runyard/agent-api/${config.DEPLOYMENT_ID}`,
    onOutboxWritten: () => relay.kick(),
    onWebhooksQueued: () => webhookSignals.send(),
    atRest,
    ...(retention.defaultTtl && { threadTtl: retention.defaultTtl }),
  });
  lifecycle.onStop('run engine', () => engine.close());
  const checkpoints = new PostgresCheckpoints({ pool, metrics, atRest });
  lifecycle.onStop('checkpoints', () => checkpoints.close());
  const store = openStore({ project, pool, host, logger });
  lifecycle.onStop('store', () => store.close());

  const threadStore = new ThreadStore(prisma, atRest);
  const states = new StateService({
    threads: threadStore,
    engine,
    host,
    backends: (fence) => ({
      checkpoints: fence ? checkpoints.forRun(fence) : checkpoints.readOnly(),
      store: store.backend,
    }),
    onUpdated: (fence, state) =>
      tellStateUpdate({ streams, currentEpoch: (id) => engine.currentEpoch(id) }, { fence, state }, logger),
  });
  const open = new OpenResponses();
  lifecycle.onDrain('open streams', () => open.cutAll());
  const watch = new RunWatch({
    findInFlight: (runIds) => engine.runsInFlight(runIds),
    onError: (error) => logger.warn('the runs of open streams could not be looked up', { error }),
  });
  lifecycle.onStop('run watch', () => watch.close());
  const threadWatch = createThreadWatch(pool, (error) =>
    logger.warn('the threads of open streams could not be looked up', { error }),
  );
  lifecycle.onStop('thread watch', () => threadWatch.close());
  const onDeleted = () => {
    watch.checkSoon();
    threadWatch.checkSoon();
  };
  const onThreadsDeleted = afterDeletion({ streams, tellWaiting: onDeleted, logger });
  const { defaultTtl } = retention;
  const threads = new ThreadService({
    store: threadStore,
    engine,
    state: states,
    onDeleted: onThreadsDeleted,
    onRunsDeleted: (runs) => tellDeleted({ engine, streams, logger }, runs),
    defaultTtl,
  });
  const sweeper = createThreadSweeper({ engine, pool, settings: retention, onDeleted: onThreadsDeleted, logger });
  lifecycle.onStop('thread sweeper', () => sweeper.close());
  const assistants = await openAssistants({
    prisma,
    pool,
    graphs: project.graphs,
    environment: { ...process.env, ...location.environment },
    removal: { threads, runs: () => runs },
    host,
    configurableHeaders: http.configurableHeaders,
  });
  lifecycle.onStop('assistant lookup', () => assistants.lookup.close());
  const tracingProject = tracingProjectOf(location.environment);
  const webhooks = openWebhooks({
    config,
    project,
    environment: location.environment,
    own: process.env,
    pool,
    atRest,
    signals: webhookSignals,
    logger,
    metrics,
  });
  lifecycle.onStop('webhooks', () => webhooks.stop());
  const runs = new RunService({
    engine,
    streams,
    wakeups,
    assistants: assistants.lookup,
    threads: threadStore,
    webhooks: webhooks.targets,
    onDeleted,
    tracingProject,
    logger,
  });
  const crons = openCrons({
    prisma,
    atRest,
    engine,
    assistants: assistants.lookup,
    threads: threadStore,
    webhooks: webhooks.targets,
    wakeups,
    signals: openSignals('crons'),
    streams,
    metrics,
    graphIds: project.graphs.map(({ graphId }) => graphId),
    tracingProject,
    logger,
  });
  lifecycle.onStop('crons', () => crons.clock.stop());
  const feedback = await openFeedback({ pool, ttlSeconds: config.FEEDBACK_URL_TTL_SECONDS });
  const answers = new RunAnswers(runs, { engine, streams, watch, open }, feedback.tokens);
  registerDeploymentMetrics(metrics, { engine, pool, redis, open });

  const readiness: ReadinessChecks = http.checksNothing
    ? {}
    : { database: async () => void (await pool.query('SELECT 1')), redis: () => streams.check() };
  const operations = [
    ...assistants.routes,
    ...threadRoutes(threads),
    ...retentionRoutes(new ThreadRetention({ store: threadStore, engine, state: states, onDeleted: onThreadsDeleted })),
    ...stateRoutes(states),
    ...threadStreamRoutes(threadStore, { streams, threadWatch, open }),
    ...runRoutes(runs, answers, http.configurableHeaders),
    ...feedback.routes(runs),
    ...webhooks.routes(runs),
    ...cronRoutes(crons.service),
    ...store.routes,
    ...metaRoutes({
      context,
      config,
      readiness,
      reports: http.checksNothing ? {} : { js_runtime: () => host.state, core_api: () => 'ok' },
    }),
  ]
    .map(askingPermission)
    .map(tellingRefusedData)
    .map(tellingOutages);
  await hostStarted;
  const projectApp = await openProjectApp(project.app, { host, own, principal, http, operations, config });
  if (projectApp) lifecycle.onStop('project app', () => projectApp.close());
  const app = createApp({
    context,
    principal,
    cors: http.cors,
    isInner: own.isInner,
    loggedHeaders: http.loggedHeaders,
    without: http.isDisabled,
    before: [own.tellRoute, ...(projectApp ? [projectApp.handler] : []), locatedBelow(http.mountPrefix)],
    metricsPrefix: 'lg_api_',
    bodyLimitBytes: config.HTTP_MAX_REQUEST_BODY_BYTES,
    openApi: OPEN_API_INFO['agent-server'],
    alsoDescribes: projectApp?.openApi,
    readiness,
    operations,
  });
  await store.start();
  const served = mounted(http.mountPrefix, app);
  own.serve(app);
  const { url } = await listen(served, { host: config.HOST, port: config.PORT, context });
  const announcement = new Announcement({
    servers: new ApiServers(pool),
    url: reachableUrl(url, config.ADVERTISED_URL) + (http.mountPrefix ?? ''),
    token: own.workerToken,
    revisionId: config.REVISION_ID ?? null,
    logger,
  });
  await announcement.start();
  lifecycle.onStop('announcement', () => announcement.stop());
  await listenForMetrics(context, config);
  crons.clock.start();
  webhooks.start(projectApp && ((path, request) => projectApp.send(path, request)));
  sweeper.start();
  lifecycle.ready();
}
