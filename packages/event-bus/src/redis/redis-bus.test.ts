import { randomUUID } from 'node:crypto';
import { KeyIssued } from '@runyard/contracts';
import { testRedis, waitFor } from '@runyard/test-kit';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEventBus, type EventBus, type KeyedEvent, makeEvent } from '../index.ts';
import { recordingLogger } from '../test/recording-logger.ts';

let redis: ReturnType<typeof testRedis>;
let admin: Redis;
let bus: EventBus;
let got: string[];

beforeEach(() => {
  redis = testRedis();
  admin = new Redis(redis.url);
  got = [];
  bus = open();
});
afterEach(async () => {
  await bus.close();
  admin.disconnect();
  await redis.close();
});

const open = () =>
  createEventBus(
    { kind: 'redis', url: redis.url, prefix: redis.prefix, sessionTimeoutMs: 1_000 },
    { logger: recordingLogger().logger },
  );
const stream = () => `{${redis.prefix}}:bus:runyard.organizations`;
const subscribe = (by = bus) =>
  by.subscribe({
    topics: ['organizations'],
    group: 'group',
    from: 'latest',
    onEvent: async (event) => void got.push(event.id),
  });
const issued = (): KeyedEvent => {
  const id = randomUUID();
  const data = { organization_id: id, key_id: id };
  return { key: id, event: makeEvent(KeyIssued, { source: '/test', subject: id, data }) };
};
const publish = async () => {
  const event = issued();
  await bus.publish('organizations', [event]);
  return event.event.id;
};

describe('event bus on Redis', () => {
  it('goes on after its reading connection was cut', async () => {
    await subscribe();
    const first = await publish();
    await waitFor(() => got.length === 1);
    const list = (await admin.client('LIST')) as string;
    const reading = list.split('\n').filter((one) => one.includes(`name=${redis.prefix}-bus-group`));
    expect(reading).toHaveLength(1);
    for (const line of reading) {
      await admin.client('KILL', 'ID', Number(/id=(\d+)/.exec(line)![1]));
    }
    const second = await publish();
    await waitFor(() => got.length === 2);
    expect(got).toEqual([first, second]);
  });

  it('goes on with newer events when Redis was emptied', async () => {
    await subscribe();
    await publish();
    await waitFor(() => got.length === 1);
    await admin.del(stream());
    const since = await publish();
    await waitFor(() => got.includes(since));
  });

  it('has one active member at a time, and another takes over when it ends', async () => {
    const other = open();
    const active = await subscribe();
    await subscribe(other);
    const first = await publish();
    await waitFor(() => got.length === 1);
    await active.close();
    const second = await publish();
    await waitFor(() => got.length === 2);
    expect(got).toEqual([first, second]);
    await other.close();
  });

  it('keeps no more events of a topic than it may, so that a topic that nobody reads does not fill the memory', async () => {
    const small = createEventBus(
      { kind: 'redis', url: redis.url, prefix: redis.prefix, maxEvents: 100 },
      { logger: recordingLogger().logger },
    );
    await small.publish('organizations', Array.from({ length: 1_000 }, issued));
    // Redis trims whole nodes of a hundred entries.
    expect(await admin.xlen(stream())).toBeLessThanOrEqual(300);
    await small.close();
  });

  it('drops expired events', async () => {
    const short = createEventBus(
      { kind: 'redis', url: redis.url, prefix: redis.prefix, retentionMs: 1 },
      { logger: recordingLogger().logger },
    );
    await short.publish('organizations', Array.from({ length: 500 }, issued));
    // Within the same millisecond they have not expired yet.
    await waitFor(async () => {
      await short.publish('organizations', [issued()]);
      return (await admin.xlen(stream())) < 200;
    });
    await short.close();
  });
});

describe('a subscription of several buses', () => {
  const namesOfParts = () =>
    ['one', 'two', 'late'].map((name) => `${redis.prefix}:${name}`) as [string, string, string];
  const publishTo = async (prefix: string) => {
    const part = createEventBus({ kind: 'redis', url: redis.url, prefix }, { logger: recordingLogger().logger });
    const event = issued();
    await part.publish('organizations', [event]);
    await part.close();
    return event.event.id;
  };
  const openAll = (sources: string[]) =>
    createEventBus(
      { kind: 'redis', url: redis.url, prefix: redis.prefix, sources: () => sources, sessionTimeoutMs: 1_000 },
      { logger: recordingLogger().logger },
    );
  const follow = (by: EventBus) =>
    by.subscribe({
      topics: ['organizations'],
      group: 'all',
      from: 'earliest',
      onEvents: async (events) => void got.push(...events.map(({ id }) => id)),
    });

  it('reads those that exist, and others from their first event on once they do', async () => {
    const [one, two, late] = namesOfParts();
    const published = [await publishTo(one), await publishTo(two)];
    const sources = [one, two];
    const all = openAll(sources);
    await follow(all);
    await waitFor(() => got.length === 2);
    sources.push(late);
    published.push(await publishTo(late));
    await waitFor(() => got.length === 3);
    expect(got.toSorted()).toEqual(published.toSorted());
    await all.close();
  });

  it('are read by a user that can do nothing else there, and whose lease is elsewhere', async () => {
    const [one] = namesOfParts();
    const user = `${redis.prefix}-reader`;
    const rights = '-@all +xgroup|create +xreadgroup +xack +ping +auth +hello +client|setname +info'.split(' ');
    await admin.call('ACL', 'SETUSER', user, 'on', '>password', `~{${redis.prefix}:*}:bus:*`, ...rights);
    const url = Object.assign(new URL(redis.url), { username: user, password: 'password' }).href;
    const all = createEventBus(
      { kind: 'redis', url, leaseUrl: redis.url, prefix: redis.prefix, sources: () => [one], sessionTimeoutMs: 1_000 },
      { logger: recordingLogger().logger },
    );
    await follow(all);
    const published = await publishTo(one);
    await waitFor(() => got.includes(published));
    expect(await admin.exists(`{${redis.prefix}}:bus:active:all`)).toBe(1);
    await all.close();
    await admin.call('ACL', 'DELUSER', user);
  });

  it('does not create a stream whose owner has not begun it, or has removed it', async () => {
    const [one, two] = namesOfParts();
    const sources = [one, two];
    const all = openAll(sources);
    await follow(all);
    await publishTo(one);
    await waitFor(() => got.length === 1);
    sources.shift();
    await admin.del(`{${one}}:bus:runyard.organizations`);
    const last = await publishTo(two);
    await waitFor(() => got.includes(last));
    expect(await admin.exists(`{${one}}:bus:runyard.organizations`)).toBe(0);
    await all.close();
  });

  it('delivers what its last member read and did not settle, from each of them', async () => {
    const [one, two] = namesOfParts();
    const published = [await publishTo(one), await publishTo(two)];
    const first = openAll([one, two]);
    let hasFailed = false;
    await first.subscribe({
      topics: ['organizations'],
      group: 'all',
      from: 'earliest',
      onEvents: async () => {
        hasFailed = true;
        throw new Error('not now');
      },
    });
    await waitFor(() => hasFailed);
    await first.close();
    const second = openAll([one, two]);
    await follow(second);
    await waitFor(() => got.length === 2);
    expect(got.toSorted()).toEqual(published.toSorted());
    await second.close();
  });

  it('goes on with the others while one cannot be read, and with that one when it can', async () => {
    const [broken, other] = namesOfParts();
    const stream = `{${broken}}:bus:runyard.organizations`;
    await admin.set(stream, 'no stream');
    const all = openAll([broken, other]);
    await follow(all);
    const first = await publishTo(other);
    await waitFor(() => got.includes(first));
    await admin.del(stream);
    const second = await publishTo(broken);
    await waitFor(() => got.includes(second));
    // An owner may also take away the group.
    await admin.xgroup('DESTROY', stream, 'all');
    const third = await publishTo(other);
    await waitFor(() => got.includes(third));
    const fourth = await publishTo(broken);
    await waitFor(() => got.includes(fourth));
    await all.close();
  });

  it('reads any number of them, and says which one has an event', async () => {
    const sources = Array.from({ length: 45 }, (_, index) => `${redis.prefix}:${index}`);
    const published = await Promise.all(sources.map(publishTo));
    const all = openAll(sources);
    const from = new Map<string, string | undefined>();
    await all.subscribe({
      topics: ['organizations'],
      group: 'many',
      from: 'earliest',
      onEvents: async (events, _topic, source) => {
        for (const { id } of events) from.set(id, source);
      },
    });
    await waitFor(() => from.size === sources.length);
    expect(published.map((id) => from.get(id))).toEqual(sources);
    const late = await publishTo(sources[44]!);
    await waitFor(() => from.get(late) === sources[44]);
    await all.close();
  });

  it('waits for no stream whose owner makes its backlog longer and longer', async () => {
    const [endless, other] = namesOfParts();
    const stream = `{${endless}}:bus:runyard.organizations`;
    await publishTo(endless);
    const all = openAll([endless, other]);
    await follow(all);
    await waitFor(() => got.length === 1);
    let isOver = false;
    const making = (async () => {
      while (!isOver) {
        await admin.xgroup('SETID', stream, 'all', '0');
        await admin.xreadgroup('GROUP', 'all', 'active', 'COUNT', 10, 'STREAMS', stream, '>');
      }
    })();
    const published = await publishTo(other);
    await waitFor(() => got.includes(published));
    isOver = true;
    await making;
    await all.close();
  });
});
