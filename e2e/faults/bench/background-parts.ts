import { randomUUID } from 'node:crypto';
import { openPool } from '@runyard/database';
import { createEventBus, type EventBusConfig, OutboxRelay } from '@runyard/event-bus';
import { Lease, LeasedTask } from '@runyard/leases';
import { RunWakeups, WakeupReceiver, WorkSignals } from '@runyard/run-engine';
import { RunStreams } from '@runyard/run-stream';
import { createContext, listen, silentLogger as logger, Metrics } from '@runyard/service-kit';
import type { BackgroundPart } from '@runyard/test-kit';
import type pg from 'pg';

/** The servers of a deployment. */
export interface PartServers {
  pool: pg.Pool;
  /** The URL of the pool's database. */
  database: string;
  redis: string;
  keyPrefix: string;
}

/** Milliseconds between rounds of periodic parts. */
const EVERY_MS = 5;
const nothing = () => undefined;

/** Returns the background parts that services have from packages, on real servers. */
export function backgroundParts({ pool, database, redis, keyPrefix }: PartServers): BackgroundPart[] {
  const context = { logger, metrics: new Metrics({ processMetrics: false }) };
  const bus = { kind: 'redis', url: redis, prefix: keyPrefix } satisfies EventBusConfig;
  const queue = { redis, keyPrefix };
  return [
    { name: 'outbox relay', open: () => relay(pool, createEventBus(bus, context)) },
    { name: 'subscription', open: () => subscription(() => createEventBus(bus, context)) },
    {
      name: 'leased task',
      open: () =>
        new LeasedTask({
          lease: new Lease(pool, { name: 'storm', leaseMs: 5_000 }),
          everyMs: EVERY_MS,
          atStart: true,
          run: () => pool.query('SELECT 1'),
          logger,
        }),
    },
    {
      name: 'pool',
      open: () => {
        const own = openPool({ connectionString: database, max: 1, applicationName: 'start-stop-storm' });
        return { start: () => own.query('SELECT 1'), stop: () => own.end() };
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
        return { start: () => wakeups.wake('created'), stop: () => wakeups.close() };
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
        const signals = new WorkSignals({ ...queue, topic: 'crons' });
        return { start: () => signals.onSignal(nothing), stop: () => signals.close() };
      },
    },
    { name: 'server', open: server },
  ];
}

function relay(pool: pg.Pool, bus: ReturnType<typeof createEventBus>) {
  const outbox = new OutboxRelay({ pool, bus, topics: ['runs'], logger, idleMs: EVERY_MS });
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

/** Opens a server with a client that keeps its connection. */
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
