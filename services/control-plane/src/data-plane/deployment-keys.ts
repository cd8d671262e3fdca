import { Redis } from 'ioredis';

/** Every Redis key of a deployment contains this. */
export function redisKeyPrefix(deploymentId: string): string {
  return `runyard:${deploymentId}`;
}

/** Removes what a deployment left in Redis. Keys made meanwhile may stay: its processes must be gone. */
export async function removeRedisKeys(redisUri: string, deploymentId: string): Promise<void> {
  const redis = new Redis(redisUri, {
    maxRetriesPerRequest: 1,
    connectTimeout: 5_000,
    commandTimeout: 30_000,
    lazyConnect: true,
  });
  redis.on('error', () => undefined); // The command under way reports it.
  try {
    await redis.connect();
    // The prefix also stands inside hash-tag braces.
    for await (const keys of redis.scanStream({ match: `*${redisKeyPrefix(deploymentId)}*`, count: 1000 })) {
      if (keys.length > 0) await redis.unlink(...keys);
    }
  } finally {
    redis.disconnect();
  }
}
