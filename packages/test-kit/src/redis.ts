import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { testServerAddress } from './environment.ts';

export interface TestRedis {
  url: string;
  /** Unique to this call; a prefix for every key, so that tests may run side by side on one server. */
  prefix: string;
  /** Deletes every key below the prefix. */
  close(): Promise<void>;
}

export function testRedis(): TestRedis {
  const url = testServerAddress('redis');
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  return { url, prefix, close: () => deleteKeys(url, prefix) };
}

async function deleteKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url);
  try {
    // The prefix may be inside a hash tag: `{prefix}:queue`.
    for await (const keys of redis.scanStream({ match: `*${prefix}*`, count: 1000 })) {
      if (keys.length > 0) await redis.unlink(...keys);
    }
  } finally {
    redis.disconnect();
  }
}
