import { PostgresCheckpoints } from '@runyard/checkpointer';
import { mapDatabaseOutages, retryStartStep } from '@runyard/database';
import type { SharedHost } from '@runyard/host-client';
import { openIdempotencyKeys } from '@runyard/idempotency';
import { threadRetentionSettings } from '@runyard/project';
import { ApiServers, RunEngine, staleWriteCounter, warnOfBudgets } from '@runyard/run-engine';
import {
  type BoundOperation,
  deploymentMetricIdentity,
  listenForMetrics,
  openEarlyListener,
  type ReadinessChecks,
  reportReady,
  requireOperationPermission,
  type ServiceContext,
  StreamPlaces,
  withMiddleware,
} from '@runyard/service-kit';
import { openA2a } from './a2a/open-a2a.ts';
import { pushContent } from './a2a/push/push-content.ts';
import { createCallerVerifier } from './access/authentication.ts';
import type { RequireRun } from './access/require-run.ts';
import { UNRESTRICTED } from './access/scope.ts';
import { openAgUi } from './ag-ui/open-ag-ui.ts';
import { AssistantIds } from './assistants/assistant-ids.ts';
import { type AssistantParts, openAssistants } from './assistants/open-assistants.ts';
import { askedEvents } from './auth/auth-events.ts';
import { openUsers } from './auth/open-users.ts';
import { type GuardedOperation, RouteGuard } from './auth/route-guard.ts';
import { StreamRights } from './auth/stream-rights.ts';
import { openSubjects } from './auth/subjects.ts';
import { reportUncoveredEvents } from './auth/uncovered-events.ts';
import type { Config } from './config.ts';
import { limitReads } from './connections/limit-reads.ts';
import { openDatabase } from './connections/open-database.ts';
import { openOutbox } from './connections/open-outbox.ts';
import { openRedis } from './connections/open-redis.ts';
import { cronRoutes } from './crons/cron-routes.ts';
import { openCrons } from './crons/open-crons.ts';
import { mapInvalidData } from './errors/invalid-data.ts';
import { protocolRoutes } from './event-protocol/protocol-routes.ts';
import { ProtocolWebSockets } from './event-protocol/protocol-web-sockets.ts';
import { openFeedback } from './feedback/open-feedback.ts';
import { httpSettings } from './http/http-settings.ts';
import { requireJson } from './http/json-content.ts';
import { ListRoom } from './http/list-room.ts';
import { openMcp } from './mcp/open-mcp.ts';
import { registerDeploymentMetrics } from './meta/deployment-metrics.ts';
import { type MetaParts, metaRoutes } from './meta/meta-routes.ts';
import { SweepMetrics } from './meta/sweep-metrics.ts';
import { openServedProject } from './project/open-served-project.ts';
import { readSchemasAhead } from './project/read-schemas-ahead.ts';
import { reachableUrl, ServerRegistration } from './project/server-registration.ts';
import { openProtocolAccess } from './protocols/access.ts';
import { createHaltRounds } from './runs/halt-rounds.ts';
import { createRescueRounds } from './runs/rescue-rounds.ts';
import { RunAnswers } from './runs/run-answers.ts';
import { RunResults } from './runs/run-results.ts';
import { runRoutes } from './runs/run-routes.ts';
import { RunService } from './runs/run-service.ts';
import { tracingProjectOf } from './runs/tracing-project.ts';
import { serveRequests } from './server/serve.ts';
import { openStore } from './store/open-store.ts';
import { limitOpenStreams } from './streams/limit-open-streams.ts';
import { openReaders } from './streams/open-readers.ts';
import { openThreads } from './threads/open-threads.ts';
import { openUi } from './ui/open-ui.ts';
import { openWebhooks } from './webhooks/open-webhooks.ts';

/**
 * Runs one process of a deployment's API. Its state is in Postgres; others like it may run beside it.
 *
 * @param shared the host of a worker in the same process
 */
export async function run(config: Config, context: ServiceContext, shared?: SharedHost): Promise<void> {
  const { lifecycle, logger, metrics, tracing } = context;
  metrics.identify(deploymentMetricIdentity(config));
  const callers = createCallerVerifier(config, logger);
  const earlyListener = await openEarlyListener({ host: config.HOST, port: config.PORT, context });
  const served = await openServedProject(config, context, shared);
  const { project, environment, cipher, encryption, loopback, host } = served;
  const graphIds = project.graphs.map(({ graphId }) => graphId);
  const ids = new AssistantIds(graphIds);
  const platform = config.RUNYARD_AUTH === 'none' ? undefined : callers;
  const users = openUsers(project, (idOrGraph) => ids.find(idOrGraph), host, platform);
  const hasUsers = users !== undefined;
  const guard = new RouteGuard(users && { authorizer: users.authorizer, subjects: openSubjects(() => pool) });
  const ui = openUi(served, config, context, guard);
  const http = httpSettings(project.http, config);
  const retention = threadRetentionSettings(project);
  const tracingProject = tracingProjectOf(environment);

  const { streams, wakeups, openSignals, use: redis } = openRedis(config, context, cipher, shared);
  const { pool, prisma } = await openDatabase(config, context, cipher);
  await encryption?.open(served.loaded);
  const relay = openOutbox(config, context, pool);
  const keys = openIdempotencyKeys(
    { pool, cipher: cipher, keptHours: config.IDEMPOTENCY_KEY_RETENTION_HOURS },
    context,
  );
  const webhookSignals = openSignals('webhooks');
  const staleWrite = staleWriteCounter(metrics);
  const engine = new RunEngine({
    pool,
    deploymentId: config.DEPLOYMENT_ID,
    source: `/runyard/agent-api/${config.DEPLOYMENT_ID}`,
    onOutboxWritten: () => relay.wake(),
    onBudgetExhausted: warnOfBudgets(logger),
    onWebhooksQueued: () => webhookSignals.send(),
    onStaleWrite: () => staleWrite('status'),
    onTakeBackFailure: (threadId, error) =>
      logger.warn('ending the cancelled run of a lost worker failed, will retry', { threadId, error }),
    cipher,
    waitingRunsMax: config.THREAD_WAITING_RUNS_MAX,
    ...(retention.defaultTtl && { threadTtl: retention.defaultTtl }),
  });
  lifecycle.onStop('run engine', () => engine.close());
  const checkpoints = new PostgresCheckpoints({ pool, metrics, onStaleWrite: () => staleWrite('checkpoint'), cipher });
  lifecycle.onStop('checkpoints', () => checkpoints.close());
  const results = new RunResults({ engine, maxBytes: config.HTTP_MAX_RESULT_BYTES_IN_FLIGHT });
  results.observe(metrics);
  const listRoom = new ListRoom(results.budget);
  const store = openStore({ project, pool, cipher, listRoom, host, guard, logger });
  lifecycle.onStop('store', () => store.close());

  const readers = openReaders(engine, streams, pool, context);
  const sweeps = new SweepMetrics(metrics);
  const threads = openThreads({
    prisma,
    pool,
    cipher,
    listRoom,
    engine,
    checkpoints,
    store: store.backend,
    host,
    assistants: () => assistants.lookup,
    streams,
    readers,
    retention,
    historyMaxBytes: config.LANGGRAPH_THREAD_HISTORY_MAX_STATE_BYTES,
    keys,
    guard,
    sweeps,
    logger,
  });
  lifecycle.onStop('thread sweeper', () => threads.sweeper.stop());
  const assistantParts: AssistantParts = {
    prisma,
    pool,
    cipher,
    listRoom,
    graphs: project.graphs,
    environment: { ...process.env, ...environment },
    removal: {
      deleteThreads: (scope, assistantId) => threads.service.deleteMatching(scope, { assistant_id: assistantId }),
      cancelRuns: (assistantId, reason) => runs.cancel(UNRESTRICTED, { assistantId }, 'interrupt', reason),
    },
    host,
    configurableHeaders: http.configurableHeaders,
    keys,
    guard,
  };
  const assistants = await retryStartStep(() => openAssistants(assistantParts), context);
  lifecycle.onStop('assistant lookup', () => assistants.lookup.close());
  const webhooks = openWebhooks({
    config,
    project,
    environment,
    serviceEnvironment: process.env,
    pool,
    cipher,
    signals: webhookSignals,
    pushContent,
    logger,
    metrics,
  });
  lifecycle.onStop('webhooks', () => webhooks.stop());
  const toAccept = {
    engine,
    streams,
    wakeups,
    assistants: assistants.lookup,
    threads: threads.store,
    webhooks: webhooks.targets,
    tracingProject,
    hasUsers,
    tracing,
    logger,
  };
  const runs = new RunService({ ...toAccept, listRoom, onDeleted: () => readers.wake() });
  const requireRun: RequireRun = (scope, threadId, runId) => runs.find(scope, threadId, runId);
  const rescue = createRescueRounds({ engine, state: threads.state, streams, pool, metrics: sweeps, logger });
  lifecycle.onStop('rescue rounds', () => rescue.stop());
  const halting = createHaltRounds({ engine, streams, wakeups, pool, logger });
  lifecycle.onStop('halt rounds', () => halting.stop());
  const crons = openCrons({
    ...toAccept,
    prisma,
    cipher,
    listRoom,
    signals: openSignals('crons'),
    metrics,
    graphIds,
  });
  lifecycle.onStop('crons', () => crons.scheduler.stop());
  const ttlSeconds = config.FEEDBACK_URL_TTL_SECONDS;
  const feedback = await retryStartStep(() => openFeedback({ pool, ttlSeconds }), context);
  const { open, watch, ends } = readers;
  const answerSources = { engine, streams, watch, ends, open, results };
  const answers = new RunAnswers(runs, answerSources, feedback.tokens);
  const agUi = openAgUi({
    assistants,
    threads: threads.store,
    runs,
    sources: answerSources,
    resultBudget: results.budget,
    keys,
    configurableHeaders: http.configurableHeaders,
    guard,
    authorizer: users?.authorizer,
  });
  const rights =
    users &&
    new StreamRights({
      verifier: { authenticate: (req) => users.verifier.authenticate(loopback.authenticatedRequest(req)) },
      authorizer: users.authorizer,
      threads: threads.store,
      logger,
    });
  const a2a = await retryStartStep(
    () =>
      openA2a({
        config,
        project,
        pool,
        cipher,
        engine,
        threads: threads.store,
        assistants,
        runs,
        keys,
        streams,
        readers,
        resultBudget: results.budget,
        webhooks,
        configurableHeaders: http.configurableHeaders,
        guard,
        authorizer: users?.authorizer,
        rights,
      }),
    context,
  );
  const access = openProtocolAccess({
    authorizer: users?.authorizer,
    configurableHeaders: http.configurableHeaders,
  });
  const mcp = await retryStartStep(
    () =>
      openMcp({
        config,
        project,
        pool,
        cipher,
        engine,
        threads,
        assistants,
        runs,
        results,
        streams,
        readers,
        access,
        rights,
        cors: http.cors,
        guard,
        logger,
      }),
    context,
  );

  const places = new StreamPlaces(config.HTTP_MAX_OPEN_STREAMS);
  const sources = { streams, ...readers };
  const protocol = protocolRoutes({
    runs,
    engine,
    threads: threads.store,
    states: threads.state,
    streams,
    sources,
    configurableHeaders: http.configurableHeaders,
    keys,
    guard,
  });
  const inContext = encryption ? [encryption.encryptInContext] : [];
  const [command, subscription] = withMiddleware(
    [protocol.command, protocol.subscription],
    [mapDatabaseOutages, mapInvalidData, requireOperationPermission, ...inContext],
  ) as [BoundOperation, BoundOperation];
  const protocolSockets = new ProtocolWebSockets({
    command,
    subscription,
    threads: threads.store,
    sources,
    cors: http.cors,
    admission: context.admission,
    places,
    rights,
    logger,
  });
  registerDeploymentMetrics(metrics, { engine, pool, redis, open, webSockets: protocolSockets });

  await served.loaded;
  if (users) reportUncoveredEvents(await users.authorizer.load(), askedEvents(http.customRoutes), logger);
  await ui.bundled;
  await retryStartStep(() => store.start(), context);
  const readiness: ReadinessChecks = http.skipsChecks
    ? {}
    : { database: async () => void (await pool.query('SELECT 1')), redis: () => streams.check() };
  const reports: MetaParts['reports'] = http.skipsChecks ? {} : { js_runtime: () => host.state, core_api: () => 'ok' };
  const langgraphPyVersion = project.language === 'python' ? (host.libraries.langgraph ?? null) : null;
  const routes: GuardedOperation[] = [
    ...assistants.routes,
    ...threads.routes,
    ...runRoutes({ runs, answers, keys, guard, configurableHeaders: http.configurableHeaders }),
    ...feedback.routes(requireRun, guard),
    ...webhooks.routes(requireRun, guard),
    ...cronRoutes(crons.service, keys, guard),
    ...store.routes,
    ...ui.routes,
    ...[protocol.command, protocol.stream, ...a2a.routes, ...agUi.routes, ...mcp.routes].map(requireJson),
    ...metaRoutes({ context, config, readiness, reports, guard, langgraphPyVersion, isInfoPublic: hasUsers }),
  ];
  const projectApp = await serveRequests({
    earlyListener,
    open,
    config,
    context,
    settings: http,
    principal: loopback.wrapVerifier(users?.verifier ?? callers),
    authorizer: users?.authorizer,
    rights,
    served,
    readiness,
    protocolSockets,
    operations: withMiddleware(routes, [
      mapDatabaseOutages,
      mapInvalidData,
      requireOperationPermission,
      limitOpenStreams(places),
      ...(rights ? [rights.endWhenRefused] : []),
      limitReads(config),
      ...inContext,
    ]),
  });
  const registration = new ServerRegistration({
    servers: new ApiServers(pool),
    url: reachableUrl(earlyListener.url, config.ADVERTISED_URL) + (http.mountPrefix ?? ''),
    token: loopback.workerToken,
    revisionId: config.REVISION_ID ?? null,
    logger,
  });
  await registration.start();
  // This drains first: workers find another process while this one still answers.
  lifecycle.onDrain('server registration', () => registration.stop());
  lifecycle.onStop('server registration', () => registration.stop());
  await listenForMetrics(context, config);
  crons.scheduler.start();
  webhooks.start(projectApp && ((path, request) => projectApp.send(path, request)));
  threads.sweeper.start();
  rescue.start();
  halting.start();
  if (config.READ_SCHEMAS_AHEAD) readSchemasAhead(host, context);
  shared?.serverReady();
  await shared?.started(lifecycle.stopping);
  reportReady(context);
}
