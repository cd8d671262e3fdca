import { reportDeploymentPoolMetrics } from '@runyard/database';
import {
  cancelLatencyHistogram,
  RUN_COUNTERS,
  RUN_HISTOGRAM_BUCKETS,
  RUN_HISTOGRAMS,
  type RunMetric,
  staleWriteCounter,
  sweptCounter,
} from '@runyard/run-engine';
import { type Metrics, type RedisConnectionStats, reportRedisMetrics } from '@runyard/service-kit';
import type pg from 'pg';

const MILLISECONDS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000];
/**
 * `taken_back`: runs of lost workers that are pending again. `given_up`: those that had lost too many. `cancelled`:
 * those that had been cancelled. `woken`: times that runs were ready and nobody came. `results_removed`: expired
 * results.
 */
const SWEPT = ['taken_back', 'given_up', 'cancelled', 'woken', 'results_removed'];
/** The buckets are fine around a lease and the round of a sweep. */
const RESUMPTION_MILLISECONDS = [1_000, 2_500, 5_000, 7_500, 10_000, 12_500, 15_000, 20_000, 30_000, 60_000, 300_000];

/** Counts what a worker does. Operators of agent servers know the names. */
export class WorkerMetrics {
  readonly attemptsStarted;
  readonly succeeded;
  readonly cancelled;
  readonly failedRetriable;
  readonly failedAfterRetry;
  readonly setToError;
  readonly recursionLimits;
  readonly handedBack;
  readonly lost;
  readonly claimFailures;
  readonly lostEvents;
  readonly trimmedEvents;
  readonly publishLatency;
  readonly executionLatency;
  readonly queueWait;
  readonly queueWaitOfRetries;
  readonly exceededAttempts;
  readonly hostRestarts;
  readonly attemptsRepeated;
  readonly leaseLosses;
  readonly staleWrite;
  readonly swept;
  readonly cancelLatency;
  readonly resumptionLatency;

  constructor(metrics: Metrics) {
    const counter = (name: string, help: string) => metrics.counter(`lg_api_${name}`, help);
    const shared = ({ name, help }: RunMetric) => metrics.counter(name, help);
    const latency = ({ name, help }: RunMetric) => metrics.histogram(name, help, [], RUN_HISTOGRAM_BUCKETS);
    this.attemptsStarted = shared(RUN_COUNTERS.attemptsStarted);
    this.succeeded = shared(RUN_COUNTERS.succeeded);
    this.cancelled = shared(RUN_COUNTERS.cancelled);
    this.failedRetriable = shared(RUN_COUNTERS.failedRetriable);
    this.failedAfterRetry = shared(RUN_COUNTERS.failedAfterRetry);
    this.exceededAttempts = shared(RUN_COUNTERS.exceededAttempts);
    this.setToError = shared(RUN_COUNTERS.setToError);
    this.recursionLimits = counter(
      'graph_recursion_limit_error_counter',
      'Runs that ended because their graph took more steps than it may',
    );
    this.handedBack = shared(RUN_COUNTERS.handedBack);
    this.lost = counter('run_lost_counter', 'Attempts that another worker took over');
    this.claimFailures = shared(RUN_COUNTERS.claimFailures);
    this.lostEvents = shared(RUN_COUNTERS.lostEvents);
    this.trimmedEvents = counter(
      'stream_trimmed_events_total',
      'Events that went because their thread had more than a stream may keep',
    );
    this.hostRestarts = counter('graph_host_restarts_counter', 'Graph hosts that ended without having been asked to');
    this.attemptsRepeated = counter(
      'run_attempts_repeated_total',
      'Attempts begun that were not the first of their run',
    );
    this.leaseLosses = counter('worker_lease_losses_total', 'Leases of this worker that lapsed without a renewal');
    this.staleWrite = staleWriteCounter(metrics);
    this.swept = sweptCounter(metrics, SWEPT);
    this.cancelLatency = cancelLatencyHistogram(metrics);
    this.resumptionLatency = metrics.histogram(
      'lg_api_run_resumption_latency',
      'Milliseconds from the last sign of life of a lost worker to the next attempt of its run',
      [],
      RESUMPTION_MILLISECONDS,
    );
    this.publishLatency = metrics.histogram(
      'lg_api_stream_publish_latency',
      'Milliseconds to append events to a stream',
      [],
      MILLISECONDS,
    );
    this.executionLatency = latency(RUN_HISTOGRAMS.executionLatency);
    this.queueWait = latency(RUN_HISTOGRAMS.queueWait);
    this.queueWaitOfRetries = latency(RUN_HISTOGRAMS.queueWaitOfRetries);
  }
}

/** Reports what the worker has in use right now. */
export function reportWorkerGauges(
  metrics: Metrics,
  worker: { pools: pg.Pool[]; redis: RedisConnectionStats; slots: number; active: () => number; free: () => number },
): void {
  const gauge = (name: string, help: string, value: () => number) =>
    metrics.gauge(`lg_api_${name}`, help, [], (each) => each.set(value()));
  gauge('workers_max', 'Slots for runs', () => worker.slots);
  gauge(
    'workers_active',
    'Runs in flight, also those that lend their slot while they wait for another run',
    worker.active,
  );
  gauge('workers_available', 'Free slots', worker.free);
  reportDeploymentPoolMetrics(worker.pools, metrics);
  reportRedisMetrics(metrics, worker.redis);
}
