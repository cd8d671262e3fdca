import { fileURLToPath } from 'node:url';
import {
  BudgetsChanged,
  type CloudEvent,
  conforms,
  OPEN_API_INFO,
  redisKeyPrefix,
  type TopicName,
  watchRunChanges,
} from '@runyard/contracts';
import {
  applyMigrations,
  checkPooler,
  limitOperations,
  mapDatabaseOutages,
  openPool,
  reportPoolMetrics,
  retryStartStep,
} from '@runyard/database';
import { createEventBus, type EventBusConfig } from '@runyard/event-bus';
import {
  ConfigError,
  cacheForScrape,
  createApp,
  createPrincipalVerifier,
  InternalClient,
  type Metrics,
  openEarlyListener,
  PeriodicTask,
  type ServiceContext,
  StreamPlaces,
  startHourlySweep,
  toEventBusConfig,
  withMiddleware,
} from '@runyard/service-kit';
import type pg from 'pg';
import { requireRunPermission, VisibleDeployments } from './access/visible-deployments.ts';
import { openBudgets } from './budgets/open-budgets.ts';
import { ChangeStreams } from './changes/change-streams.ts';
import { JournalChanges } from './changes/journal-changes.ts';
import type { Config } from './config.ts';
import { KnownDeployments } from './deployments/known-deployments.ts';
import { Journal } from './journal/journal.ts';
import { readJournalId } from './journal/journal-id.ts';
import { removeDeletedDeployments } from './retention/deleted-deployments.ts';
import { sweepHistory } from './retention/retention.ts';
import { runRoutes } from './run-routes.ts';
import { RunSearch } from './search/run-search.ts';

/** A filter is a page of text at most. */
const BODY_LIMIT_BYTES = 1024 * 1024;
/** Services of the platform answer within milliseconds or not at all. */
const QUESTION_TIMEOUT_MS = 3_000;
const DELETIONS_EVERY_MS = 300_000;
const STATEMENT_TIMEOUT_MS = 60_000;
/** Callers wait for these. */
const SEARCH_MS = 2_000;
/** Connections that searches leave to writers, which wait for each other, and to what removes and checks. */
const LEFT_CONNECTIONS = 3;
const REFRESH_EVERY_MS = 15_000;
const CONNECT_TIMEOUT_MS = 5_000;

const CLIENT_ID = 'runyard-run-history';

/** The path is valid from `src/` and from `dist/`. */
export const migrationsDir = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

export async function run(config: Config, context: ServiceContext): Promise<void> {
  const { lifecycle, logger, metrics } = context;
  const internalClient = (service: string, url: string) =>
    new InternalClient({ service, url, internalToken: config.INTERNAL_TOKEN, timeoutMs: QUESTION_TIMEOUT_MS });
  const pool = openPool({
    connectionString: config.DATABASE_URI,
    max: config.DATABASE_POOL_SIZE,
    applicationName: 'runyard-run-history',
    preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  const controlPlane = internalClient('control-plane', config.CONTROL_PLANE_URL);
  const deployments = new KnownDeployments({ pool, controlPlane });
  // It throws for a configuration that lacks something, before anything begins.
  const runBusConfig = toRunBusConfig(config, deployments);
  const earlyListener = await openEarlyListener({ host: config.HOST, port: config.PORT, context });
  lifecycle.onStop('database', () => pool.end());
  reportPoolMetrics(pool, metrics);
  const journalId = await retryStartStep(async () => {
    await checkPooler(pool);
    await applyMigrations(pool, migrationsDir);
    await deployments.load();
    return readJournalId(pool);
  }, context);

  const retentionDays = config.RUN_HISTORY_RETENTION_DAYS;
  const budgets = openBudgets({ pool, controlPlane, logger }, lifecycle);
  const journal = new Journal({ pool, deployments, retentionDays, onUsedUp: budgets.tell, logger, metrics });
  const limits = {
    runsPerDeploymentMax: config.RUN_HISTORY_RUNS_PER_DEPLOYMENT_MAX,
    minutesRetentionDays: config.RUN_HISTORY_MINUTES_RETENTION_DAYS,
  };
  startHourlySweep('run history retention', () => sweepHistory({ pool, logger, retentionDays, ...limits }), context);
  const deletions = new PeriodicTask({
    name: 'history of deleted deployments',
    everyMs: DELETIONS_EVERY_MS,
    run: () => removeDeletedDeployments({ pool, deployments, logger }),
    logger,
  });
  deletions.start();
  lifecycle.onStop('history of deleted deployments', () => deletions.stop());

  // Over Redis, the process that reads the streams of deployments has to know new ones, whichever gets their events. Over
  // Kafka, events name deployments, and control-plane is asked about unknown ones.
  const refreshes = new PeriodicTask({
    name: 'deployments of the history',
    everyMs: REFRESH_EVERY_MS,
    run: () => deployments.refresh(),
    logger,
  });
  if (config.EVENT_BUS === 'redis') refreshes.start();
  lifecycle.onStop('deployments of the history', () => refreshes.stop());

  const group = `run-history-${journalId}`;
  const bus = createEventBus(toEventBusConfig(config, CLIENT_ID), context);
  lifecycle.onStop('event bus', () => bus.close());
  const runBus = createEventBus(runBusConfig, context);
  lifecycle.onStop('event bus of runs', () => runBus.close());
  const follow = (topic: TopicName, subscribed: Promise<unknown>) =>
    void subscribed.catch((error: unknown) => {
      if (!lifecycle.isDraining) logger.error('event bus subscription failed', { topic, error });
    });
  follow(
    'runs',
    runBus.subscribe({
      topics: ['runs'],
      group,
      from: 'earliest',
      onEvents: (events, _topic, source) => journal.apply(events, source),
    }),
  );
  const onDeploymentEvents = async (events: readonly CloudEvent[]) => {
    if (events.some((event) => conforms(BudgetsChanged, event))) budgets.refresh();
    await deployments.refresh();
    deletions.wake();
  };
  follow(
    'deployments',
    bus.subscribe({
      topics: ['deployments'],
      group: `${group}-deployments`,
      from: 'earliest',
      onEvents: onDeploymentEvents,
    }),
  );

  reportJournalSize(pool, metrics);
  const connectionsMax = Math.max(1, config.DATABASE_POOL_SIZE - LEFT_CONNECTIONS);
  const visible = new VisibleDeployments({
    deployments,
    orgAccess: internalClient('org-access', config.ORG_ACCESS_URL),
  });
  const changes = new JournalChanges({ pool, logger });
  const places = new StreamPlaces(config.HTTP_MAX_OPEN_STREAMS);
  const streams = new ChangeStreams({ changes, visible, places });
  metrics.gauge('run_history_open_streams', 'Clients that follow changes.', [], (gauge) => gauge.set(places.taken));
  const search = new RunSearch({ pool, retentionDays });
  const jwksUrl = new URL('/.well-known/jwks.json', config.ORG_ACCESS_URL).href;
  const app = createApp({
    context,
    validationErrors: 'list',
    bodyLimitBytes: BODY_LIMIT_BYTES,
    internalToken: config.INTERNAL_TOKEN,
    principal: createPrincipalVerifier({ audience: 'run-history', jwksUrl }),
    readiness: { database: async () => void (await pool.query('SELECT 1')) },
    openApi: OPEN_API_INFO['run-history'],
    operations: withMiddleware(runRoutes({ pool, visible, search, streams }), [
      mapDatabaseOutages,
      requireRunPermission,
      // A stream stays open for minutes, and asks the database nothing of its own.
      limitOperations({ connectionsMax, statementMs: SEARCH_MS }, (operationId, { signal }) =>
        operationId === watchRunChanges.operationId ? undefined : signal,
      ),
    ]),
  });
  earlyListener.serve(app, { onClosed: () => streams.endAll() });
  lifecycle.ready();
}

/**
 * Returns the bus that has the events of runs. Over Redis each deployment has one of its own, which no other one reaches.
 *
 * @throws ConfigError when the address of the deployments' Redis is missing
 */
function toRunBusConfig(config: Config, deployments: KnownDeployments): EventBusConfig {
  const bus = toEventBusConfig(config, CLIENT_ID);
  if (bus.kind === 'kafka') return bus;
  if (!config.DEPLOYMENTS_REDIS_URI) throw new ConfigError(['DEPLOYMENTS_REDIS_URI is required with EVENT_BUS=redis.']);
  const sources = () => deployments.list().map(redisKeyPrefix);
  // A user who may write a lease there could overwrite streams: Redis 6.2 gives the same commands on all its keys.
  return { ...bus, url: config.DEPLOYMENTS_REDIS_URI, leaseUrl: bus.url, sources };
}

function reportJournalSize(pool: pg.Pool, metrics: Metrics): void {
  const count = cacheForScrape(async () => {
    const { rows } = await pool.query<{ runs: number }>(
      `SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::float8 AS runs
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'run'::regclass`,
    );
    return rows[0]!.runs;
  });
  metrics.gauge('run_history_rows', 'Runs in the journal, as Postgres estimates them.', [], async (gauge) => {
    const runs = await count();
    if (runs !== undefined) gauge.set(runs);
  });
}
