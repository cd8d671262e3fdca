import { Redis } from 'ioredis';

/** A connection as BullMQ wants it: it keeps trying, and commands wait for it instead of failing. */
export function openWakeupConnection(url: string, onError: (error: Error) => void): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    keepAlive: 10_000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), 2_000) * (0.75 + Math.random() / 2),
  });
  redis.on('error', onError);
  return redis;
}

/** What is wrong with a Redis server for queues, each in a sentence; empty when it is as it should be. */
export async function redisComplaints(redis: { info(): Promise<string> }): Promise<string[]> {
  const info = await redis.info();
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const complaints: string[] = [];
  const policy = field('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    complaints.push(
      `Redis evicts keys when its memory is full (maxmemory-policy "${policy}"): wake-ups and run events may vanish. Set it to noeviction.`,
    );
  }
  const version = field('redis_version');
  if (version !== undefined && isOlder(version, [6, 2])) {
    complaints.push(`Redis ${version} is older than 6.2, which the queues need.`);
  }
  return complaints;
}

function isOlder(version: string, [major, minor]: [number, number]): boolean {
  const [hasMajor = 0, hasMinor = 0] = version.split('.').map(Number);
  return hasMajor < major || (hasMajor === major && hasMinor < minor);
}
