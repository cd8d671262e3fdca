import { startRedisHeartbeat } from '@runyard/service-kit';
import { Redis } from 'ioredis';

/** Opens a connection for commands that answer at once: they fail within the time limit while Redis is unavailable. */
export function openCommandConnection(url: string, name: string): Redis {
  const redis = quiet(
    new Redis(url, {
      connectionName: name,
      lazyConnect: true,
      enableOfflineQueue: true,
      maxRetriesPerRequest: 1,
      commandTimeout: 5_000,
      connectTimeout: 3_000,
      keepAlive: 10_000,
      retryStrategy,
    }),
  );
  startRedisHeartbeat(redis);
  return redis;
}

/** Opens a connection for blocking reads: one per subscription, closed during a read when the subscription ends. */
export function openBlockingConnection(url: string, name: string): Redis {
  return quiet(
    new Redis(url, {
      connectionName: name,
      lazyConnect: true,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 3_000,
      keepAlive: 10_000,
      retryStrategy,
    }),
  );
}

function retryStrategy(attempt: number): number {
  return Math.min(50 * 2 ** Math.min(attempt, 6), 2_000);
}

/** Losses show in the commands that fail; an error event without a listener would end the process. */
function quiet(redis: Redis): Redis {
  return redis.on('error', () => undefined);
}
