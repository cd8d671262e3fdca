import { RUN_WAKEUP_QUEUE } from '@runyard/contracts';
import { startRedisHeartbeat } from '@runyard/service-kit';
import { FaultLine, testRedis, waitFor } from '@runyard/test-kit';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { findRedisWarnings } from '../src/wakeups/redis-warnings.ts';
import { queuePrefix, RunWakeups } from '../src/wakeups/run-wakeups.ts';
import { WakeupReceiver } from '../src/wakeups/wakeup-receiver.ts';

const redis = testRedis();
let wakeups: RunWakeups;
let receiver: WakeupReceiver;
beforeEach(() => {
  wakeups = new RunWakeups({ redis: redis.url, keyPrefix: redis.prefix });
  receiver = new WakeupReceiver({ redis: redis.url, keyPrefix: redis.prefix });
});
afterEach(async () => {
  await Promise.all([wakeups.close(), receiver.close()]);
  await redis.close();
});

const queueKey = (name: string) => `${queuePrefix(redis.prefix)}:${RUN_WAKEUP_QUEUE}:${name}`;

async function jobs(): Promise<string[]> {
  const client = new Redis(redis.url);
  const keys = await client.keys(`*${redis.prefix}*`);
  client.disconnect();
  return keys.filter((key) => /:(\w+-)?\d+$/.test(key));
}

/** Returns the names of this test's connections that block until a job comes. */
async function blocked(): Promise<string[]> {
  const list = (await connect().client('LIST')) as string;
  const lines = list.split('\n').filter((line) => line.includes(redis.prefix) && / cmd=bzpopmin( |$)/.test(line));
  return lines.map((line) => /name=(\S*)/.exec(line)![1]!);
}

function connect(): Redis {
  const client = new Redis(redis.url, { maxRetriesPerRequest: null });
  onTestFinished(() => client.disconnect());
  return client;
}

it('a wake-up reaches a worker that listens', async () => {
  const woken = receiver.next();
  wakeups.wake('created');
  await woken;
});

it('a wake-up waits for a worker with a free slot, and leaves nothing behind when it is taken', async () => {
  wakeups.wake('created');
  await waitFor(async () => (await jobs()).length > 0);
  await receiver.next();
  expect(await jobs()).toEqual([]);
});

it('a worker in the same process that has room is woken without Redis, and others when it has none', async () => {
  const wakeHere = vi.fn(() => true);
  const joined = new RunWakeups({ redis: redis.url, keyPrefix: redis.prefix, wakeHere });
  onTestFinished(() => joined.close());
  joined.wake('created');
  expect(wakeHere).toHaveBeenCalledTimes(1);
  wakeHere.mockReturnValue(false);
  const woken = receiver.next();
  joined.wake('created');
  await woken;
  expect(await jobs()).toEqual([]);
});

it('a hundred runs created at once, and others for seconds after, leave one wake-up while no worker looks', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  for (let second = 0; second < 5; second += 1) {
    for (let count = 0; count < 100; count += 1) wakeups.wake('created');
    await waitFor(async () => (await jobs()).length > 0);
    // It is answered on the connection of the wake-ups, after what was asked before.
    await wakeups.warnings();
    vi.setSystemTime(Date.now() + 1_000);
  }
  expect(await jobs()).toHaveLength(1);
});

it('a wake-up is sent when the worker that took the last one has not looked, or died', async () => {
  const options = { connection: connect(), prefix: queuePrefix(redis.prefix), autorun: false };
  const taker = new Worker(RUN_WAKEUP_QUEUE, null, options);
  onTestFinished(() => taker.close(true));
  wakeups.wake('created');
  await waitFor(async () => (await jobs()).length > 0);
  expect(await taker.getNextJob('dead', { block: false })).toBeDefined();
  wakeups.wake('created');
  await receiver.next();
});

it('a wake-up reaches a worker that listens when another died between being woken and taking the last one', async () => {
  const dying = connect();
  await dying.client('SETNAME', `${redis.prefix}-dying`);
  const isWoken = dying.bzpopmin(queueKey('marker'), 0);
  await waitFor(async () => (await blocked()).length === 1);
  const woken = receiver.next();
  await waitFor(async () => (await blocked()).length === 2);
  wakeups.wake('created');
  await isWoken;
  wakeups.wake('created');
  await woken;
  // Another was sent: without it the worker looks only when its blocking read ends.
  expect(await jobs()).toHaveLength(1);
});

it('workers look after every run, however creations and looks fall together', async () => {
  const otherWakeups = new RunWakeups({ redis: redis.url, keyPrefix: redis.prefix });
  onTestFinished(() => otherWakeups.close());
  const pacing = connect();
  let created = 0;
  let seen = 0;
  /** Creates runs in bursts of several lengths, with some round trips between them. */
  async function create(sender: RunWakeups, first: number): Promise<void> {
    for (let burst = first; burst < 150; burst += 2) {
      for (let count = 0; count < burst % 5; count += 1) {
        created += 1;
        sender.wake('created');
      }
      for (let pause = 0; pause < burst % 4; pause += 1) await pacing.ping();
    }
  }
  async function look(): Promise<void> {
    for (;;) {
      await receiver.next();
      seen = created;
    }
  }
  void look();
  await Promise.all([create(wakeups, 0), create(otherWakeups, 1)]);
  await waitFor(() => seen === created);
});

it('a wake-up after another was taken is received', async () => {
  for (let round = 0; round < 5; round += 1) {
    const woken = receiver.next();
    wakeups.wake('created');
    await woken;
  }
});

it('a delayed wake-up comes when it is due', async () => {
  const startedAt = Date.now();
  const woken = receiver.next();
  wakeups.wakeAfter(1);
  await woken;
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(900);
});

it('a server without eviction has no faults, and one that evicts is reported', async () => {
  expect(await wakeups.warnings()).toEqual([]);
  const server = (info: string) => ({ info: async () => info.replaceAll('\n', '\r\n') });
  const evicting = await findRedisWarnings(server('redis_version:7.0.15\nmaxmemory_policy:allkeys-lru\n'));
  expect(evicting).toEqual([expect.stringContaining('allkeys-lru')]);
  const old = await findRedisWarnings(server('redis_version:6.0.16\nmaxmemory_policy:noeviction\n'));
  expect(old).toEqual([expect.stringContaining('6.0.16')]);
});

describe('during a partition', () => {
  let line: FaultLine;
  beforeEach(async () => {
    line = await FaultLine.to(redis.url);
  });
  afterEach(() => line.close());

  it('a connection that only listens is replaced, and receives again', async () => {
    const heard: string[] = [];
    const listening = new Redis(line.url);
    const speaking = new Redis(redis.url);
    startRedisHeartbeat(listening, { everyMs: 50, timeoutMs: 100 });
    const closed = new Promise((resolve) => listening.once('close', resolve));
    listening.on('message', (_, message) => heard.push(message)).on('error', () => undefined);
    await listening.subscribe(redis.prefix);
    line.partition();
    await closed;
    await line.heal();
    await waitFor(async () => (await speaking.publish(redis.prefix, 'again')) === 1 && heard.length > 0);
    listening.disconnect();
    speaking.disconnect();
  });

  it('delayed wake-ups that cannot be sent do not pile up, and closing does not wait for them', async () => {
    const away = new RunWakeups({ redis: line.url, keyPrefix: redis.prefix });
    await away.warnings();
    line.partition();
    for (let index = 0; index < 50; index += 1) {
      away.wake('created');
      away.wakeAfter(3_600);
    }
    await away.close();
    await line.heal();
    expect((await jobs()).length).toBeLessThanOrEqual(3);
  });
});
