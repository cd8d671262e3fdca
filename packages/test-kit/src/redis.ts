import { Redis } from 'ioredis';
import { testServerAddress } from './environment.ts';
import { uniqueName } from './unique-name.ts';

export interface TestRedis {
  url: string;
  /** Unique to this call; a prefix for every key, so that tests may run side by side on one server. */
  prefix: string;
  /** Returns every key below the prefix with its content, as one text to search. */
  contents(): Promise<string>;
  /** Deletes every key below the prefix. */
  close(): Promise<void>;
}

export function testRedis(): TestRedis {
  const url = testServerAddress('redis');
  const prefix = `test-${uniqueName(6)}`;
  const visit = (work: KeyWork) => forKeys(url, prefix, work);
  return {
    url,
    prefix,
    async contents() {
      const found: unknown[] = [];
      await visit(async (redis, keys) => {
        for (const key of keys) found.push(key, await readKey(redis, key));
      });
      return JSON.stringify(found);
    },
    close: () => deleteKeys(url, prefix),
  };
}

/** Deletes every key below a prefix. */
export function deleteKeys(url: string, prefix: string): Promise<void> {
  return forKeys(url, prefix, async (redis, keys) => void (await redis.unlink(...keys)));
}

type KeyWork = (redis: Redis, keys: string[]) => Promise<void>;

async function forKeys(url: string, prefix: string, work: KeyWork): Promise<void> {
  const redis = new Redis(url);
  try {
    // The prefix may be inside a hash tag: `{prefix}:queue`.
    for await (const keys of redis.scanStream({ match: `*${prefix}*`, count: 1000 })) {
      if (keys.length > 0) await work(redis, keys);
    }
  } finally {
    redis.disconnect();
  }
}

async function readKey(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  if (type === 'stream') return redis.xrange(key, '-', '+');
  if (type === 'hash') return redis.hgetall(key);
  if (type === 'list') return redis.lrange(key, 0, -1);
  if (type === 'zset') return redis.zrange(key, 0, -1);
  if (type === 'set') return redis.smembers(key);
  return redis.get(key);
}
