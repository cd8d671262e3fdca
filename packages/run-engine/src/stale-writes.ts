import type { Metrics } from '@runyard/service-kit';

/** What was to be written by who had lost the thread. `status`: the end of a run, its release, or a state from outside a run. */
const KINDS = ['checkpoint', 'event', 'status', 'store'] as const;

/**
 * Counts writes that were refused because another attempt, a cancel or a rollback had taken the thread. Each is a promise kept;
 * many of them mean workers that stand still for longer than their lease.
 */
export function staleWrites(metrics: Metrics): (kind: (typeof KINDS)[number], writes?: number) => void {
  const counter = metrics.counter(
    'lg_api_stale_writes_refused_total',
    'Writes refused because the thread had another owner by then.',
    ['kind'],
  );
  for (const kind of KINDS) counter.inc({ kind }, 0);
  return (kind, writes = 1) => counter.inc({ kind }, writes);
}
