import type { DataCipher } from '@runyard/encryption';
import { RunWakeups, WakeupReceiver, WorkSignals } from '@runyard/run-engine';
import { RunStreams } from '@runyard/run-stream';
import { countConnectionsTo, type RedisConnectionStats, type ServiceContext } from '@runyard/service-kit';
import type { Config } from './config.ts';
import type { WorkerMetrics } from './worker-metrics.ts';

export interface WorkerRedis {
  streams: RunStreams;
  /** Wakes other workers. */
  wakeups: RunWakeups;
  /** Receives wake-ups. */
  receiver: WakeupReceiver;
  /** Notifies the processes of agent-api that webhooks are due. */
  webhookSignals: WorkSignals;
  use: RedisConnectionStats;
}

/** Opens what goes through the Redis of the deployment. Losing any of it costs time, not truth. */
export function openRedis(
  config: Config,
  { logger, lifecycle }: ServiceContext,
  { metrics, cipher }: { metrics: Pick<WorkerMetrics, 'trimmedEvents'>; cipher: DataCipher },
): WorkerRedis {
  const use = { max: config.REDIS_MAX_CONNECTIONS, open: countConnectionsTo(lifecycle, config.REDIS_URI, 6379) };
  const redis = { redis: config.REDIS_URI, keyPrefix: config.REDIS_KEY_PREFIX };
  const streams = new RunStreams({
    ...redis,
    cipher,
    resumableTtlMs: config.RESUMABLE_STREAM_TTL_SECONDS * 1000,
    maxBytesPerThread: config.STREAM_MAX_BYTES_PER_THREAD,
    onTrim: (entries) => metrics.trimmedEvents.inc(entries),
  });
  lifecycle.onStop('run streams', () => streams.close());
  const onError = (error: Error) => logger.debug('wake-up queue error', { error });
  const queue = { ...redis, onError };
  const wakeups = new RunWakeups(queue);
  lifecycle.onStop('wake-ups', () => wakeups.close());
  const webhookSignals = new WorkSignals({ ...queue, topic: 'webhooks' });
  lifecycle.onStop('webhook signals', () => webhookSignals.close());
  const receiver = new WakeupReceiver(queue);
  lifecycle.onStop('wake-up receiver', () => receiver.close());
  return { streams, wakeups, receiver, webhookSignals, use };
}
