import type { Metrics } from '@runyard/service-kit';

/** Bucket bounds: the first are for runs that obey at once, the last for graphs that ignore their signal. */
const CANCEL_MILLISECONDS = [10, 50, 100, 500, 1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000];

/** Counts what sweeps of this process found left behind and repaired, by its kind (`what`). */
export function sweptCounter(metrics: Metrics, kinds: readonly string[]) {
  const counter = metrics.counter('lg_api_swept_total', 'What sweeps of this process found left behind.', ['what']);
  for (const what of kinds) counter.inc({ what }, 0);
  return counter;
}

export function cancelLatencyHistogram(metrics: Metrics) {
  return metrics.histogram(
    'lg_api_run_cancel_latency',
    'Milliseconds from the order to end a running run to its end',
    [],
    CANCEL_MILLISECONDS,
  );
}
