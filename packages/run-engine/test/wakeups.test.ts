import { startRedisHeartbeat } from '@runyard/service-kit';
import { FaultLine, testRedis, waitFor } from '@runyard/test-kit';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findRedisWarnings } from '../src/wakeups/redis-connection.ts';
import { RunWakeups } from '../src/wakeups/run-wakeups.ts';
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

async function jobs(): Promise<string[]> {
  const client = new Redis(redis.url);
  const keys = await client.keys(`*${redis.prefix}*`);
  client.disconnect();
  return keys.filter((key) => /:(now|later)-\d+$/.test(key));
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

it('many wake-ups at once become a few', async () => {
  for (let count = 0; count < 1_000; count += 1) wakeups.wake('created');
  await waitFor(async () => (await jobs()).length > 0);
  await receiver.next();
  expect((await jobs()).length).toBeLessThanOrEqual(2);
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
