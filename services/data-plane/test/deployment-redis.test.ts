import { randomUUID } from 'node:crypto';
import { RunStarted, redisKeyPrefix } from '@runyard/contracts';
import { createEventBus, makeEvent } from '@runyard/event-bus';
import { silentLogger } from '@runyard/service-kit';
import { FaultLine, testRedis, waitFor } from '@runyard/test-kit';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { DeploymentRedis } from '../src/deployment-servers/deployment-redis.ts';

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

function open(adminUri = testRedis().url, users: 'own' | 'shared' = 'own'): DeploymentRedis {
  const redis = new DeploymentRedis({ adminUri, users, logger: silentLogger });
  closings.push(() => redis.close());
  return redis;
}

function connect(uri: string): Redis {
  const redis = new Redis(uri, { retryStrategy: () => 50, maxRetriesPerRequest: null }).on('error', () => undefined);
  closings.push(() => redis.disconnect());
  return redis;
}

/** Creates a deployment's Redis user. */
async function deployment(redis: DeploymentRedis): Promise<{ id: string; prefix: string; uri: string }> {
  const id = randomUUID();
  const { uri } = await redis.ensure(id, 'secret of the deployment');
  await redis.waitUntilReady();
  closings.push(() => redis.remove(id));
  return { id, prefix: redisKeyPrefix(id), uri };
}

describe('the Redis user of a deployment', () => {
  it('may use what streams, wake-ups and signals need, on its own keys and channels', async () => {
    const { prefix, uri } = await deployment(open());
    const redis = connect(uri);
    for (const key of [`${prefix}:a`, `{${prefix}}:b`, `{${prefix}:${randomUUID()}}:events`]) {
      await redis.xadd(key, '*', 'e', 'x');
      expect(await redis.xlen(key)).toBe(1);
      expect(await redis.eval("return redis.call('XTRIM', KEYS[1], 'MAXLEN', 0)", 1, key)).toBe(1);
    }
    expect(await redis.eval("return #redis.call('TIME')", 0)).toBe(2);
    redis.defineCommand('loaded', { numberOfKeys: 1, lua: "return redis.call('INCR', KEYS[1])" });
    const pipeline = redis.pipeline() as unknown as { loaded(key: string): { exec(): Promise<unknown> } };
    expect(await pipeline.loaded(`{${prefix}}:count`).exec()).toEqual([[null, 1]]);
    expect(await redis.bzpopmin(`{${prefix}}:wait`, 0.01)).toBeNull();
    expect(await redis.info()).toContain('redis_version');

    const heard: string[] = [];
    const listener = connect(uri);
    listener.on('message', (_channel, message) => heard.push(message));
    await listener.subscribe(`${prefix}:crons`, `{${prefix}}:cancel`, `{${prefix}:${randomUUID()}}:live`);
    await redis.publish(`${prefix}:crons`, 'wake');
    await waitFor(() => heard.length === 1);

    const bus = createEventBus({ kind: 'redis', url: uri, prefix }, { logger: silentLogger });
    closings.push(() => bus.close());
    const data = { deployment_id: 'd', run_id: randomUUID(), thread_id: randomUUID(), assistant_id: randomUUID() };
    const event = makeEvent(RunStarted, { source: '/test', subject: data.thread_id, data: { ...data, attempt: 1 } });
    await bus.publish('runs', [{ key: data.thread_id, event }]);
    expect(await redis.xlen(`{${prefix}}:bus:runyard.runs`)).toBe(1);
  });

  it('reads, writes, hears and lists nothing of another deployment or of the platform', async () => {
    const platform = open();
    const [own, other] = [await deployment(platform), await deployment(platform)];
    const redis = connect(own.uri);
    const foreign = [`{${other.prefix}}:run-wakeups:wait`, 'runyard:control-plane:x', '{}:bus:runyard.deployments'];
    const attempts: [string, ...string[]][] = foreign.flatMap((key): [string, ...string[]][] => [
      ['GET', key],
      ['XRANGE', key, '-', '+'],
      ['XADD', key, '*', 'event', '{}'],
      ['DEL', key],
      ['EVAL', "return redis.call('SET', KEYS[1], 'taken')", '1', key],
      ['EVAL', `return redis.call('SET', '${key}', 'taken')`, '0'],
      ['COPY', key, `${own.prefix}:copy`],
      ['PUBLISH', key, 'wake'],
      ['SUBSCRIBE', key],
    ]);
    attempts.push(
      ...(['FLUSHALL', 'FLUSHDB', 'RANDOMKEY', 'DBSIZE', 'MONITOR', 'SAVE', 'SHUTDOWN'] as const).map(
        (name): [string] => [name],
      ),
      ['SCAN', '0'],
      ['KEYS', '*'],
      ['CONFIG', 'GET', 'requirepass'],
      ['CLIENT', 'LIST'],
      ['ACL', 'LIST'],
      ['ACL', 'SETUSER', 'runyard_more', 'on', 'nopass', '~*', '+@all'],
      ['PUBSUB', 'CHANNELS'],
      ['PSUBSCRIBE', '*'],
      ['SCRIPT', 'FLUSH'],
      ['SORT', `${own.prefix}:list`, 'GET', `{${other.prefix}}:*`],
      ['REPLICAOF', '127.0.0.1', '1'],
      ['DEBUG', 'SLEEP', '0'],
      ['AUTH', 'default', ''],
    );
    const answers = await Promise.all(
      attempts.map(async ([command, ...args]) => {
        // Each command has a connection of its own, because a permitted subscription would affect the next command.
        const connection = connect(own.uri);
        const answer = await connection.call(command, ...args).catch((error: Error) => error);
        connection.disconnect();
        return [command, ...args, answer instanceof Error ? answer.message.slice(0, 9) : answer];
      }),
    );
    expect(
      answers.filter((answer) => !/^(NOPERM|WRONGPASS|ERR (Error|ACL f|DEBUG))/.test(String(answer.at(-1)))),
    ).toEqual([]);
    expect(await redis.ping()).toBe('PONG');
  });

  it('is created again when Redis comes back without users, and its connections recover', async () => {
    const line = await FaultLine.to(testRedis().url);
    closings.push(() => line.close());
    const { prefix, uri } = await deployment(open(line.url));
    const redis = connect(uri);
    await redis.set(`${prefix}:kept`, '1');
    await line.refuse();
    await connect(testRedis().url).call('ACL', 'DELUSER', new URL(uri).username);
    await line.heal();
    await waitFor(async () => (await redis.get(`${prefix}:kept`).catch(() => null)) === '1');
    await expect(redis.get('a key of another')).rejects.toThrow(/NOPERM/);
  });

  it('is removed with its deployment, with all its keys', async () => {
    const platform = open();
    const { id, prefix, uri } = await deployment(platform);
    const redis = connect(uri);
    await redis.set(`{${prefix}}:key`, '1');
    await platform.remove(id);
    const admin = connect(testRedis().url);
    expect(await admin.exists(`{${prefix}}:key`)).toBe(0);
    expect(await admin.call('ACL', 'GETUSER', new URL(uri).username)).toBeNull();
  });

  it("is the platform's account where users are shared", async () => {
    const { url } = testRedis();
    expect(await open(url, 'shared').ensure(randomUUID(), 'secret')).toEqual({ uri: url });
  });

  it('is refused with a clear message where the account may not create users', async () => {
    const { uri } = await deployment(open());
    const limited = open(uri);
    await limited.waitUntilReady();
    await expect(limited.ensure(randomUUID(), 'secret')).rejects.toThrow(/DATA_REDIS_USERS=shared/);
  });
});
