import { BUILD_QUEUE } from '@runyard/contracts';
import { Redis } from 'ioredis';
import { type BuildQueueOptions, keyPrefixOf } from './queue-settings.ts';

export type { BuildQueueOptions };

/** Milliseconds after which the queue is looked at without an event: Redis may have lost those. */
const LOOK_EVERY_MS = 60_000;
const RETRY_MS_MAX = 2_000;

/**
 * Resolves when there is something to build, or the signal aborts. It listens to the events of the queue, takes no job,
 * and needs a fraction of a builder's memory.
 */
export async function waitForBuild(
  { redis: url, prefix, onError }: BuildQueueOptions,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => Math.min(100 * attempt, RETRY_MS_MAX),
  });
  redis.on('error', onError);
  const disconnect = () => redis.disconnect();
  signal.addEventListener('abort', disconnect, { once: true });
  const keyOf = (part: string) => `${keyPrefixOf(prefix)}:${BUILD_QUEUE}:${part}`;
  try {
    for (;;) {
      // Jobs are counted after this event was read, so that none is missed in between.
      const [latest] = await redis.xrevrange(keyOf('events'), '+', '-', 'COUNT', 1);
      // One that is worked on was left by a builder that ended.
      const [waiting, active] = await Promise.all([redis.llen(keyOf('wait')), redis.llen(keyOf('active'))]);
      if (waiting + active > 0) return;
      await redis.xread('BLOCK', LOOK_EVERY_MS, 'STREAMS', keyOf('events'), latest?.[0] ?? '0-0');
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', disconnect);
    disconnect();
  }
}
