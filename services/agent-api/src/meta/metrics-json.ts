import type { MetricValues } from '@runyard/service-kit';

const QUEUE = {
  n_pending: 'num_pending_runs',
  n_running: 'num_running_runs',
  pending_runs_wait_time_max_secs: 'pending_runs_wait_time_max',
  pending_runs_wait_time_med_secs: 'pending_runs_wait_time_med',
  pending_unblocked_runs_wait_time_max_secs: 'pending_unblocked_runs_wait_time_max',
};
const WORKERS = { max: 'workers_max', active: 'workers_active', available: 'workers_available' };
const RUNS = {
  attempts_started: 'run_attempt_started_counter',
  succeeded: 'run_success_counter',
  canceled: 'run_canceled_by_request_counter',
  failed: 'run_set_status_error_counter',
};
const RUN_TIMES = {
  queue_wait_time_1st_attempt: 'run_queue_wait_time_1st_attempt',
  queue_wait_time_retry_attempt: 'run_queue_wait_time_retry_attempt',
  execution_latency: 'run_execution_latency',
};
const pool = (name: string) => ({ max: `${name}_max`, size: `${name}_size`, available: `${name}_available` });

/** Returns the metrics as `/metrics?format=json` answers them. A section without values at the moment is null. */
export function metricsAsJson(metrics: MetricValues[], prefix: string): Record<string, unknown> {
  const byName = new Map(metrics.map((metric) => [metric.name, metric.values]));
  const section = (fields: Record<string, string>) => {
    const entries = Object.entries(fields).map(([field, name]) => [field, byName.get(prefix + name)?.[0]?.value]);
    return entries.every(([, value]) => value !== undefined) ? Object.fromEntries(entries) : null;
  };
  const runs = () => {
    const counts = section(RUNS);
    const times = Object.entries(RUN_TIMES).map(([field, name]) => {
      const [total] = latencies(byName.get(prefix + name));
      return [field, total && { count: total.count, sum_ms: total.sum_ms }];
    });
    return counts && { ...counts, ...Object.fromEntries(times) };
  };
  return {
    queue: section(QUEUE),
    workers: section(WORKERS),
    runs: runs(),
    api: {
      http_requests_total: requests(byName.get(`${prefix}http_requests_total`), '', 'count'),
      http_requests_latency: latencies(byName.get(`${prefix}http_requests_latency`)),
    },
    pg_pool: section(pool('pg_pool')),
    redis_pool: section(pool('redis_pool')),
  };
}

type Values = MetricValues['values'];

function requests(values: Values = [], suffix: string, field: string): Record<string, unknown>[] {
  return values
    .filter(({ metricName = '' }) => suffix === '' || metricName.endsWith(suffix))
    .map(({ labels, value }) => ({ ...routeOf(labels), [field]: value }));
}

/** Returns count and sum of the milliseconds, by route and status. */
function latencies(values: Values = []): Record<string, unknown>[] {
  const sums = requests(values, '_sum', 'sum_ms');
  const counts = requests(values, '_count', 'count');
  return counts.map((count, index) => ({ ...count, ...sums[index] }));
}

function routeOf(labels: Values[number]['labels']): Record<string, unknown> {
  const { method, path, status } = labels;
  return { method, path, status: Number(status) };
}
