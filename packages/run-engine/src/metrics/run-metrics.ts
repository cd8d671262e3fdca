/** A metric of runs: each worker counts separately, and the deployment publishes the sums. */
export interface RunMetric {
  name: string;
  help: string;
}

const RUN_MILLISECONDS = [10, 50, 100, 500, 1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000];

const metric = (name: string, help: string) => ({ name: `lg_api_${name}`, help });

export const RUN_COUNTERS = {
  attemptsStarted: metric('run_attempt_started_counter', 'Attempts begun'),
  succeeded: metric('run_success_counter', 'Runs that ended well, also with an interrupt'),
  cancelled: metric('run_canceled_by_request_counter', 'Runs ended by a cancel'),
  setToError: metric('run_set_status_error_counter', 'Runs that ended in an error'),
  failedRetriable: metric('run_failed_retriable_counter', 'Attempts that failed and are tried again'),
  failedAfterRetry: metric('run_failed_after_retry_counter', 'Runs given up after too many failed attempts'),
  exceededAttempts: metric(
    'run_exceed_max_attempts_at_start_counter',
    'Runs given up because they lost their worker too often',
  ),
  handedBack: metric('run_abandoned_by_shutdown_counter', 'Runs handed back at a shutdown'),
  claimFailures: metric('failed_to_fetch_runs_counter', 'Claims that failed'),
  lostEvents: metric('streaming_data_loss_counter', 'Events that did not reach their stream'),
} satisfies Record<string, RunMetric>;

export const RUN_HISTOGRAMS = {
  executionLatency: metric('run_execution_latency', 'Milliseconds from claim to end of an attempt'),
  queueWait: metric('run_queue_wait_time_1st_attempt', 'Milliseconds a run waited for its first attempt'),
  queueWaitOfRetries: metric(
    'run_queue_wait_time_retry_attempt',
    'Milliseconds from the acceptance of a run to a later attempt',
  ),
} satisfies Record<string, RunMetric>;

/** Bucket bounds of the histograms, in milliseconds. */
export const RUN_HISTOGRAM_BUCKETS = RUN_MILLISECONDS;
