import type { DataCipher } from '@runyard/encryption';
import type { SharedHost } from '@runyard/host-client';
import { RunWakeups, type SignalsOptions, WorkSignals } from '@runyard/run-engine';
import { RunStreams } from '@runyard/run-stream';
import { countConnectionsTo, type RedisConnectionStats, type ServiceContext } from '@runyard/service-kit';
import type { Config } from '../config.ts';

export interface RedisParts {
  streams: RunStreams;
  wakeups: RunWakeups;
  /** Opens the channel by which processes of the deployment notify each other. */
  openSignals(topic: SignalsOptions['topic']): WorkSignals;
  use: RedisConnectionStats;
}

/** Opens what goes through the Redis of the deployment. Losing any of it costs time, not truth. */
export function openRedis(
  config: Config,
  { logger, lifecycle, metrics }: ServiceContext,
  cipher: DataCipher,
  shared?: Pick<SharedHost, 'wakeWorker'>,
): RedisParts {
  const use = { max: config.REDIS_MAX_CONNECTIONS, open: countConnectionsTo(lifecycle, config.REDIS_URI, 6379) };
  const gaps = metrics.counter('lg_api_stream_gaps_total', 'Readers of streams told that events are missing.', [
    'reason',
  ]);
  for (const reason of ['expired', 'lost', 'too_large']) gaps.inc({ reason }, 0);
  const trimmed = metrics.counter(
    'lg_api_stream_trimmed_events_total',
    'Events that went because their thread had more than a stream may keep',
  );
  const redis = { redis: config.REDIS_URI, keyPrefix: config.REDIS_KEY_PREFIX };
  const streams = new RunStreams({
    ...redis,
    cipher,
    resumableTtlMs: config.RESUMABLE_STREAM_TTL_SECONDS * 1000,
    maxBytesPerThread: config.STREAM_MAX_BYTES_PER_THREAD,
    onGap: (reason) => gaps.inc({ reason }),
    onTrim: (entries) => trimmed.inc(entries),
  });
  lifecycle.onStop('run streams', () => streams.close());
  const wakeups = new RunWakeups({
    ...redis,
    wakeHere: () => shared?.wakeWorker() ?? false,
    onError: (error) => logger.debug('waking workers failed', { error }),
  });
  lifecycle.onStop('wake-ups', () => wakeups.close());
  return {
    streams,
    wakeups,
    openSignals(topic) {
      const signals = new WorkSignals({
        ...redis,
        topic,
        onError: (error) => logger.debug('signalling other processes failed', { topic, error }),
      });
      lifecycle.onStop(`signals about ${topic}`, () => signals.close());
      return signals;
    },
    use,
  };
}
