import { reportDeploymentPoolMetrics } from '@runyard/database';
import {
  type QueueStatistics,
  RUN_COUNTERS,
  RUN_HISTOGRAM_BUCKETS,
  RUN_HISTOGRAMS,
  type RunEngine,
  readRunMetrics,
} from '@runyard/run-engine';
import { cacheForScrape, type Metrics, type RedisConnectionStats, reportRedisMetrics } from '@runyard/service-kit';
import type pg from 'pg';
import type { OpenResponses } from '../streams/open-responses.ts';

export interface DeploymentMetricsSources {
  engine: Pick<RunEngine, 'readQueueStatistics' | 'histories'>;
  pool: pg.Pool;
  redis: RedisConnectionStats;
  open: OpenResponses;
  /** The open websockets of the event protocol. */
  webSockets: { readonly size: number };
}

/**
 * Registers metrics of the queue, workers and runs of the whole deployment, and of this process's pool. While the
 * database is away the answer lacks those of the deployment; it does not fail.
 */
export function registerDeploymentMetrics(
  metrics: Metrics,
  { engine, pool, redis, open, webSockets }: DeploymentMetricsSources,
): void {
  const queue = cacheForScrape(() => engine.readQueueStatistics());
  const queueGauge = (name: string, help: string, value: (statistics: QueueStatistics) => number) =>
    metrics.gauge(`lg_api_${name}`, help, [], async (gauge) => {
      const statistics = await queue();
      if (statistics) gauge.set(value(statistics));
      else gauge.remove();
    });
  queueGauge('num_pending_runs', 'Runs that wait.', (q) => q.pendingRuns);
  queueGauge('num_running_runs', 'Runs under way.', (q) => q.runningRuns);
  queueGauge('pending_runs_wait_time_max', 'Longest wait of a waiting run, seconds.', (q) => q.pendingWaitMax);
  queueGauge('pending_runs_wait_time_med', 'Median wait of waiting runs, seconds.', (q) => q.pendingWaitMedian);
  queueGauge(
    'pending_unblocked_runs_wait_time_max',
    'Longest wait of a run whose thread is free, seconds.',
    (q) => q.unblockedWaitMax,
  );
  queueGauge(
    'runs_awaiting_keys',
    'Waiting runs whose encryption key no worker has got at the last try.',
    (q) => q.runsAwaitingKeys,
  );
  queueGauge('workers_max', 'Runs the workers can execute at once.', (q) => q.slots);
  queueGauge('workers_active', 'Slots of workers in use.', (q) => q.runningRuns);
  queueGauge('workers_available', 'Free slots of workers.', (q) => Math.max(q.slots - q.runningRuns, 0));

  const expiry = cacheForScrape(() => engine.histories.secondsBehind());
  metrics.gauge(
    'lg_api_thread_expiry_delay_seconds',
    'How long the thread that has been past its ttl for longest waits to be swept.',
    [],
    async (gauge) => {
      const seconds = await expiry();
      if (seconds === undefined) gauge.remove();
      else gauge.set(seconds);
    },
  );
  registerRunTotals(metrics, pool);
  reportDeploymentPoolMetrics([pool], metrics);
  reportRedisMetrics(metrics, redis);
  metrics.gauge('lg_api_open_streams', 'Event streams, websockets and waiting answers under way.', [], (gauge) =>
    gauge.set(open.size + webSockets.size),
  );
  metrics.collectCounter(
    'lg_api_stalled_streams_cut_total',
    'Streams cut because their client took nothing of them any more.',
    () => open.stalled,
  );
}

/** Registers the sums of what the workers have counted of runs. */
function registerRunTotals(metrics: Metrics, pool: pg.Pool): void {
  const totals = cacheForScrape(() => readRunMetrics(pool));
  const samplesOf = (name: string) => async () => (await totals())?.get(name);
  for (const { name, help } of Object.values(RUN_COUNTERS)) {
    metrics.collectAggregate({ name, help, type: 'counter' }, samplesOf(name));
  }
  for (const { name, help } of Object.values(RUN_HISTOGRAMS)) {
    metrics.collectAggregate({ name, help, type: 'histogram', buckets: RUN_HISTOGRAM_BUCKETS }, samplesOf(name));
  }
}
