import { startRedisHeartbeat } from '@runyard/service-kit';
import { Redis } from 'ioredis';

const CONNECT_TIMEOUT_MS = 3_000;

/**
 * Opens a connection as BullMQ needs it: it keeps trying, and commands wait for it instead of failing. No caller waits
 * for them. A ping detects an unresponsive server, and the connection is replaced.
 */
export function openQueueConnection(url: string, onError: (error: Error) => void): Redis {
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
