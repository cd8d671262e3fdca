import { startRedisHeartbeat } from '@runyard/service-kit';
import { Redis } from 'ioredis';

const CONNECT_TIMEOUT_MS = 3_000;

/**
 * Opens a connection as BullMQ needs it: it keeps trying, and commands wait for it instead of failing. No caller waits
 * for them. A ping detects an unresponsive server, and the connection is replaced.
 */
export function openWakeupConnection(url: string, onError: (error: Error) => void): Redis {
  return keepReconnecting(
    new Redis(url, {
      maxRetriesPerRequest: null,
      connectTimeout: CONNECT_TIMEOUT_MS,
      keepAlive: 10_000,
      retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 6), 2_000) * (0.75 + Math.random() / 2),
    }),
    onError,
  );
}

/** Opens another connection to the same server, for listening. */
export function duplicateConnection(redis: Redis, onError: (error: Error) => void): Redis {
  return keepReconnecting(redis.duplicate(), onError);
}

function keepReconnecting(redis: Redis, onError: (error: Error) => void): Redis {
  startRedisHeartbeat(redis);
  return redis.on('error', onError);
}

/** Returns the faults of a Redis server that is used for queues, each in a sentence; empty when there is none. */
export async function findRedisWarnings(redis: { info(): Promise<string> }): Promise<string[]> {
  const info = await redis.info();
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const warnings: string[] = [];
  const policy = field('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    warnings.push(
      `Redis evicts keys when its memory is full (maxmemory-policy "${policy}"): wake-ups and run events may vanish. Set it to noeviction.`,
    );
  }
  const version = field('redis_version');
  if (version !== undefined && isOlder(version, [6, 2])) {
    warnings.push(`Redis ${version} is older than 6.2, which the queues need.`);
  }
  return warnings;
}

function isOlder(version: string, [major, minor]: [number, number]): boolean {
  const [hasMajor = 0, hasMinor = 0] = version.split('.').map(Number);
  return hasMajor < major || (hasMajor === major && hasMinor < minor);
}
