import { randomUUID } from 'node:crypto';
import { PostgresCheckpoints, PostgresStore } from '@runyard/checkpointer';
import { checkPooler, retryStartStep } from '@runyard/database';
import { openDataCipher } from '@runyard/encryption';
import { embeddingsOf, type SharedHost } from '@runyard/host-client';
import { GraphLoadError } from '@runyard/host-protocol';
import { Lease } from '@runyard/leases';
import { openProject, storeSettings } from '@runyard/project';
import {
  ApiServers,
  type MissingKeyReport,
  RunEngine,
  RunMetricReport,
  StateTimes,
  warnOfBudgets,
} from '@runyard/run-engine';
import {
  createApp,
  deploymentMetricIdentity,
  listen,
  listenForMetrics,
  PeriodicTask,
  reportReady,
  type ServiceContext,
} from '@runyard/service-kit';
import { ClaimLoop } from './claiming/claim-loop.ts';
import { RunSlots } from './claiming/run-slots.ts';
import type { Config } from './config.ts';
import { Executions } from './execution/executions.ts';
import { type EndedRun, logRun } from './execution/log-run.ts';
import { openHosts } from './hosts/open-hosts.ts';
import { LeaseKeeper } from './leases/lease-keeper.ts';
import { createSweeper } from './leases/sweeper.ts';
import { WaitingRuns } from './loopback/waiting-runs.ts';
import { openDatabase } from './open-database.ts';
import { openRedis } from './open-redis.ts';
import { ProjectEncryption } from './project-encryption.ts';
import { warnAboutServers } from './server-warnings.ts';
import { EventPublisher, type EventPublisherOptions } from './streams/event-publisher.ts';
import { reportWorkerGauges, WorkerMetrics } from './worker-metrics.ts';

/**
 * Milliseconds that a graph may take to obey an abort before its run is ended without it: the end has to be visible
 * within five seconds.
 */
const ABORT_GRACE_MS = 3_000;
/** Milliseconds that it may take before its host is replaced. */
const HOST_GRACE_MS = 5_000;
/** Milliseconds that runs may take to reach their next step, at the end of the grace period. */
const DRAIN_MS = 1_000;
const SWEEP_EVERY_MS = 1_000;
const UPKEEP = { everyMs: 5_000, idleEveryMs: 30_000 };
/** Milliseconds until another worker takes over the upkeep of a lease owner that died. */
const UPKEEP_LEASE_MS = 15_000;
const POLL_EVERY_MS = 2_000;
/** Milliseconds between a worker's reports for the metrics of its deployment. */
const REPORT_EVERY_MS = 5_000;

/**
 * Runs one worker: it claims runs of its deployment while slots are free and executes them in a graph host. Its state
 * is in Postgres; when it dies, other workers continue from there.
 *
 * @param shared lets a server in the same process ask the host too, and close it after its own last answer
 */
export async function run(config: Config, context: ServiceContext, shared?: SharedHost): Promise<void> {
  const { logger, lifecycle } = context;
  context.metrics.identify(deploymentMetricIdentity(config));
  const workerId = randomUUID();
  const leaseMs = config.WORKER_LEASE_SECONDS * 1000;
  const graceMs = config.BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS * 1000;
  const metrics = new WorkerMetrics(context.metrics);

  const { project, encryption: variables, ...location } = await openProject(config, process.env);
  for (const warning of project.warnings) logger.warn(warning);
  const encryption = project.encryption
    ? new ProjectEncryption({ source: project.encryption, host: () => hosts.current, variables, config, context })
    : undefined;
  const cipher = encryption?.cipher ?? openDataCipher(variables);
  const { pool, upkeepPool } = openDatabase(config, workerId, cipher, context);
  const { streams, wakeups, receiver, webhookSignals, use: redis } = openRedis(config, context, { metrics, cipher });
  const stateTimes = new StateTimes({
    pool,
    onError: (error) => logger.warn('state times not written', { error }),
  });
  lifecycle.onStop('times of states', () => stateTimes.close());
  const checkpoints = new PostgresCheckpoints({
    pool,
    metrics: context.metrics,
    onCommitted: (threadIds) => stateTimes.recordCommits(threadIds),
    onStaleWrite: () => metrics.staleWrite('checkpoint'),
    unavailableRetryMs: leaseMs * 0.5,
    readRetryMs: leaseMs * 0.5,
    cipher,
  });
  lifecycle.onStop('checkpoints', () => checkpoints.close());
  const engineOptions = {
    deploymentId: config.DEPLOYMENT_ID,
    source: `/runyard/run-worker/${workerId}`,
    leaseMs,
    maxFailures: config.BG_JOB_MAX_RETRIES,
    maxAttempts: config.RUN_ATTEMPTS_MAX,
    maxDrains: config.BG_JOB_MAX_DRAINS,
    keyWaitMs: config.RUN_KEY_WAIT_SECS * 1000,
    onMissingKey: (report: MissingKeyReport) => logger.warn('runs wait for an encryption key', { ...report }),
    onBudgetExhausted: warnOfBudgets(logger),
    onWebhooksQueued: () => webhookSignals.send(),
    onStaleWrite: () => metrics.staleWrite('status'),
    onTakeBackFailure: (threadId: string, error: unknown) =>
      logger.warn('lost run not taken back, will retry', { threadId, error }),
    cipher,
  };
  const engine = new RunEngine({ ...engineOptions, pool });
  lifecycle.onStop('run engine', () => engine.close());
  const upkeep = new RunEngine({ ...engineOptions, pool: upkeepPool });
  lifecycle.onStop('upkeep', () => upkeep.close());

  const { embeddings, ...storeOptions } = storeSettings(project);
  const store = new PostgresStore({ pool, cipher, retryMs: leaseMs * 0.5, ...storeOptions });
  const waiting = new WaitingRuns(() => claims.runsAwaited());
  const hosts = await openHosts(config, context, {
    opened: { project, ...location },
    servers: new ApiServers(pool),
    waiting,
    shared,
    onReady: () => {
      claims.look();
      shared?.hostReady();
    },
    onLost: () => metrics.hostRestarts.inc(),
  });
  // Loading the project takes longest: the rest is opened meanwhile.
  const loaded = hosts.start();
  loaded.catch(() => undefined);

  const currentEpoch = (threadId: string) => engine.currentEpoch(threadId);
  const storedPosition: EventPublisherOptions['storedPosition'] = (run) => checkpoints.newestStreamPosition(run);
  const publisher = new EventPublisher({ streams, currentEpoch, storedPosition, metrics, logger });
  lifecycle.onStop('ends of runs', () => publisher.close());
  const executions = new Executions({
    deps: {
      engine,
      publisher,
      takeSlot: ({ isQuarantined }) => (isQuarantined ? hosts.takeIsolatedSlot() : hosts.takeSlot()),
      checkpointsFor: ({ keepsThread, fence }) => (keepsThread ? checkpoints.forRun(fence) : undefined),
      storeFor: ({ fence }, host) =>
        store.open({
          fence,
          onStaleWrite: () => metrics.staleWrite('store'),
          ...(embeddings && { embed: embeddingsOf(host, embeddings) }),
        }),
      metrics,
      tracing: context.tracing,
      logger,
      ...(config.LOG_RUNS && { onEnded: (run: EndedRun) => logRun(logger, run) }),
      timeoutMs: config.BG_JOB_TIMEOUT_SECS * 1000,
      abortGraceMs: ABORT_GRACE_MS,
      hostGraceMs: HOST_GRACE_MS,
    },
    onSlotFree: ({ hasNextRun }) => {
      if (!hasNextRun) claims.slotFreed();
      else if (lifecycle.isDraining) wakeups.wake('finished');
      else claims.wake();
    },
  });
  const lease = new LeaseKeeper({
    engine: upkeep,
    worker: { workerId, revisionId: config.REVISION_ID, slots: config.N_JOBS_PER_WORKER },
    runs: executions,
    leaseMs,
    metrics,
    logger,
  });
  const slots = new RunSlots({
    slots: config.N_JOBS_PER_WORKER,
    inFlight: () => executions.size,
    waiting: () => executions.countOf(waiting.ids),
  });
  const canExecute = () => hosts.current !== undefined && lease.isHeld;
  const claims = new ClaimLoop({
    engine,
    workerId,
    freeSlots: () => (canExecute() ? slots.free : 0),
    awaited: () => {
      const among = canExecute() ? waiting.awaited : undefined;
      return among && { among, limit: slots.freeForAwaited };
    },
    freeIsolatedHosts: () => hosts.freeIsolatedHosts,
    start: (claimed) => executions.start(claimed),
    hold: (delayed) => executions.hold(delayed),
    nextWakeup: () => receiver.next(),
    passOn: () => wakeups.wake('created'),
    metrics,
    logger,
    pollEveryMs: POLL_EVERY_MS,
  });
  const sweeper = createSweeper({
    metrics,
    engine: upkeep,
    lease: new Lease(upkeepPool, { name: 'run sweep', owner: workerId, leaseMs: UPKEEP_LEASE_MS }),
    streams,
    currentEpoch: (threadId) => upkeep.currentEpoch(threadId),
    wakeups,
    logger,
    everyMs: SWEEP_EVERY_MS,
    // A lease is renewed three times: when its worker claims a run it has more than half of itself left.
    idleEveryMs: leaseMs / 2,
    upkeep: UPKEEP,
    checkDatabase: () => upkeepPool.query('SELECT 1'),
    // Every live worker renews in this time.
    graceMs: leaseMs / 2,
  });
  reportWorkerGauges(context.metrics, {
    pools: [pool, upkeepPool],
    redis,
    slots: config.N_JOBS_PER_WORKER,
    active: () => executions.size,
    free: () => slots.free,
  });

  const report = new RunMetricReport(upkeepPool, context.metrics);
  const reporting = new PeriodicTask({
    name: 'run metrics',
    everyMs: REPORT_EVERY_MS,
    run: () => report.report(),
    logger,
  });
  reporting.start();
  lifecycle.onStop('run metrics', async () => {
    await reporting.stop();
    await report.report().catch((error: unknown) => logger.warn('last run metrics not reported', { error }));
  });

  const app = createApp({
    context,
    operations: [],
    metricsPrefix: 'lg_api_',
    readiness: {
      database: async () => void (await pool.query('SELECT 1')),
      redis: () => streams.check(),
      'graph host': async () => {
        if (!hosts.current) throw new Error('no graph host is ready');
      },
    },
  });
  await listen(app, { host: config.HOST, port: config.PORT, context, isAuxiliary: true });
  await listenForMetrics(context, config);

  // The hooks below stand in the order of a stop, read upwards: claims end first, runs end or are handed back, the
  // lease goes last. A worker that cannot deregister is found by its lapsed lease; that is no failed stop.
  const warnNotDeregistered = (error: unknown) => logger.warn('worker not deregistered', { error });
  lifecycle.onStop('worker registration', () => upkeep.removeWorker(workerId).catch(warnNotDeregistered));
  lifecycle.onStop('lease', () => lease.close());
  (shared ?? lifecycle).onStop('graph host', () => hosts.close(500), { timeoutMs: 5_000 });
  lifecycle.onStop(
    'runs in flight',
    async () => {
      await executions.finishOrHandBack({ graceMs: Math.max(0, graceMs - DRAIN_MS), drainMs: DRAIN_MS });
      wakeups.wake('swept');
    },
    { timeoutMs: graceMs + DRAIN_MS + 5_000 },
  );
  lifecycle.onHurry(() => executions.endGrace());
  lifecycle.onStop('sweeper', () => sweeper.stop());
  lifecycle.onDrain('claiming', async () => {
    await claims.stop();
    await upkeep.drainWorker(workerId).catch(warnNotDeregistered);
  });

  await loaded;
  await retryStartStep(() => checkPooler(pool), context);
  // Any failure is retried, here and below: the tables may be created after the worker has started.
  if (encryption) {
    await retryStartStep(
      () => encryption.open(),
      context,
      (error) => !(error instanceof GraphLoadError),
    );
  }
  await retryStartStep(
    () => lease.start(),
    context,
    () => true,
  );
  if (lifecycle.isDraining) return;
  warnAboutServers({ wakeups, pools: [pool, upkeepPool] }, context);
  streams.onCancel(({ runId }) => {
    if (executions.has(runId)) void lease.renewNow();
  });
  // The code of runs calls its own server.
  await shared?.served(lifecycle.stopping);
  sweeper.start();
  claims.start();
  reportReady(context);
  shared?.workerReady(() => claims.wakeIfFree());
}
