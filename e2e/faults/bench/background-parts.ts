import { randomUUID } from 'node:crypto';
import { Duty, DutyRounds } from '@runyard/database';
import { createEventBus, type EventBusConfig, OutboxRelay } from '@runyard/event-bus';
import { ApiServers, RunEngine, RunWakeups, Signals, WakeupReceiver } from '@runyard/run-engine';
import { RunStreams } from '@runyard/run-stream';
import { createContext, listen, silentLogger as logger, Metrics } from '@runyard/service-kit';
import type pg from 'pg';
import { CronClock } from '../../../services/agent-api/src/crons/cron-clock.ts';
import { Announcement } from '../../../services/agent-api/src/project/announcement.ts';
import { createRescueRounds } from '../../../services/agent-api/src/runs/rescue-rounds.ts';
import { RunWatch } from '../../../services/agent-api/src/streams/run-watch.ts';
import { createThreadSweeper } from '../../../services/agent-api/src/threads/thread-sweeper.ts';
import { WebhookSender } from '../../../services/agent-api/src/webhooks/webhook-sender.ts';
import { OpenExchanges } from '../../../services/gateway/src/authentication/open-exchanges.ts';
import { DeploymentTable } from '../../../services/gateway/src/routing/deployment-table.ts';
import { RouteFeed } from '../../../services/gateway/src/routing/route-feed.ts';
import { ClaimLoop } from '../../../services/run-worker/src/claiming/claim-loop.ts';
import { HostSupervisor } from '../../../services/run-worker/src/hosts/host-supervisor.ts';
import { LeaseKeeper } from '../../../services/run-worker/src/leases/lease-keeper.ts';
import { WorkerMetrics } from '../../../services/run-worker/src/worker-metrics.ts';
import { FakeHost } from '../../../services/run-worker/test/fakes.ts';
import type { BackgroundPart } from './start-stop-storm.ts';

export interface PartServers {
  /** Of a deployment's database. */
  pool: pg.Pool;
  redis: string;
  keyPrefix: string;
}

const EVERY_MS = 5;
const nothing = () => undefined;

/** What works in the background of the services, on real servers. */
export function backgroundParts({ pool, redis, keyPrefix }: PartServers): BackgroundPart[] {
  const engine = new RunEngine({ pool, deploymentId: 'bench', source: '/bench' });
  const context = { logger, metrics: new Metrics({ processMetrics: false }) };
  const workerMetrics = new WorkerMetrics(new Metrics({ processMetrics: false }));
  const bus = { kind: 'redis', url: redis, prefix: keyPrefix } satisfies EventBusConfig;
  const queue = { redis, keyPrefix };
  const duty = (name: string) => new Duty(pool, { name, holder: randomUUID(), leaseMs: 5_000 });
  return [
    { name: 'outbox relay', open: () => relay(pool, createEventBus(bus, context)) },
    { name: 'subscription', open: () => subscription(() => createEventBus(bus, context)) },
    {
      name: 'rounds of a duty',
      open: () =>
        stoppedBy(
          new DutyRounds({
            duty: duty('storm'),
            everyMs: EVERY_MS,
            atStart: true,
            round: async () => void (await pool.query('SELECT 1')),
            onError: nothing,
          }),
          'close',
        ),
    },
    {
      name: 'thread sweeper',
      open: () => {
        const settings = { sweepEveryMs: EVERY_MS, sweepLimit: 10 } as Parameters<
          typeof createThreadSweeper
        >[0]['settings'];
        return stoppedBy(createThreadSweeper({ engine, pool, settings, onDeleted: nothing, logger }), 'close');
      },
    },
    { name: 'rescue rounds', open: () => rescue(pool, engine, new RunStreams(queue)) },
    {
      name: 'crons clock',
      open: () => {
        const clock = new CronClock({
          engine,
          graphIds: ['ledger'],
          toRun: () => {
            throw new Error('there are no crons');
          },
          onFired: nothing,
          logger,
        });
        return { start: () => clock.start(), stop: () => clock.stop() };
      },
    },
    {
      name: 'webhook sender',
      open: () => {
        const claims = { claim: async () => ({ claimed: [], nextInMs: EVERY_MS }), settle: async () => undefined };
        const sender = new WebhookSender({
          queue: { ...claims, giveBack: async () => undefined, endAllFor: async () => undefined } as never,
          deliver: async () => {
            throw new Error('there are no webhooks');
          },
          concurrency: 2,
          onResult: nothing,
          logger,
        });
        return { start: () => sender.start(), stop: () => sender.stop(1_000) };
      },
    },
    {
      name: 'announcement',
      open: () => {
        const servers = new ApiServers(pool);
        return new Announcement({ servers, url: 'http://127.0.0.1:1', token: 'token', revisionId: null, logger });
      },
    },
    {
      name: 'run watch',
      open: () => {
        const watch = new RunWatch({
          findInFlight: (runIds) => engine.runsInFlight(runIds),
          onUntold: async () => undefined,
          onError: nothing,
          checkEveryMs: EVERY_MS,
        });
        return { start: () => watch.watch(randomUUID(), nothing), stop: () => watch.close() };
      },
    },
    {
      name: 'streams and their readers',
      open: () => streams(new RunStreams(queue)),
    },
    {
      name: 'wake-ups',
      open: () => {
        const wakeups = new RunWakeups(queue);
        return { start: () => wakeups.kick('created'), stop: () => wakeups.close() };
      },
    },
    {
      name: 'wake-up receiver',
      open: () => {
        const receiver = new WakeupReceiver(queue);
        return { start: () => void receiver.next(), stop: () => receiver.close() };
      },
    },
    {
      name: 'signals',
      open: () => {
        const signals = new Signals({ ...queue, topic: 'crons' });
        return { start: () => signals.onSignal(nothing), stop: () => signals.close() };
      },
    },
    {
      name: 'claim loop',
      open: () =>
        new ClaimLoop({
          engine,
          workerId: randomUUID(),
          freeSlots: () => 1,
          freeSoloPlaces: () => 1,
          start: nothing,
          nextWakeup: () => new Promise(nothing),
          passOn: nothing,
          metrics: workerMetrics,
          logger,
          lookEveryMs: EVERY_MS,
        }),
    },
    {
      name: 'lease',
      open: () =>
        stoppedBy(
          new LeaseKeeper({
            engine,
            worker: { workerId: randomUUID(), revisionId: 'bench', slots: 1 },
            runs: { fences: () => [], cancel: nothing, lose: nothing, loseAll: nothing },
            leaseMs: 3 * EVERY_MS,
            metrics: workerMetrics,
            logger,
          }),
          'close',
        ),
    },
    {
      name: 'graph hosts',
      open: () => {
        const hosts = new HostSupervisor({
          start: async () => new FakeHost().host as never,
          onReady: nothing,
          onLost: nothing,
          logger,
          pingEveryMs: EVERY_MS,
        });
        return { start: () => hosts.start(), stop: () => hosts.close(10) };
      },
    },
    {
      name: 'route feed',
      open: () =>
        new RouteFeed({
          table: new DeploymentTable(),
          fetchSnapshot: async () => ({ routes: [] }),
          refreshMs: EVERY_MS,
          logger,
        }),
    },
    { name: 'open exchanges', open: () => new OpenExchanges({ maxPerKey: 10 }) },
    { name: 'server', open: server },
  ];
}

function stoppedBy<Name extends string>(
  part: { start(): unknown } & Record<Name, () => unknown>,
  stop: Name,
): { start(): unknown; stop(): unknown } {
  return { start: () => part.start(), stop: () => part[stop]() };
}

function relay(pool: pg.Pool, bus: ReturnType<typeof createEventBus>) {
  const outbox = new OutboxRelay({ pool, bus, logger, idleMs: EVERY_MS });
  return {
    start: () => outbox.start(),
    async stop() {
      await outbox.stop();
      await bus.close();
    },
  };
}

function subscription(openBus: () => ReturnType<typeof createEventBus>) {
  const bus = openBus();
  let following: Promise<unknown> = Promise.resolve();
  return {
    start() {
      const group = `storm-${randomUUID()}`;
      following = bus
        .subscribe({ topics: ['deployments'], group, from: 'latest', onEvent: async () => undefined })
        .catch(nothing);
    },
    async stop() {
      await bus.close();
      await following;
    },
  };
}

function rescue(pool: pg.Pool, engine: RunEngine, streams: RunStreams) {
  const rounds = createRescueRounds({
    engine,
    streams,
    state: { readAnew: async () => undefined } as never,
    pool,
    logger,
  });
  return {
    start: () => rounds.start(),
    async stop() {
      await rounds.close();
      await streams.close();
    },
  };
}

function streams(open: RunStreams) {
  const ending = new AbortController();
  let reading: Promise<unknown> = Promise.resolve();
  return {
    start() {
      reading = open.read(randomUUID(), { signal: ending.signal }).next();
    },
    async stop() {
      ending.abort();
      await reading;
      await open.close();
    },
  };
}

/** With a client that keeps its connection. */
function server() {
  const context = createContext('bench', { LOG_LEVEL: 'silent', processMetrics: false });
  return {
    async start() {
      const { url } = await listen((_req, res) => res.end('ok'), { host: '127.0.0.1', port: 0, context });
      await (await fetch(url)).text();
    },
    stop: () => context.lifecycle.stop('the storm'),
  };
}
