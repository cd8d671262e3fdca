import type { Metrics } from '@runyard/service-kit';

/** The kinds of refused writes. `status`: the end of a run, its release, or a state from outside a run. */
const KINDS = ['checkpoint', 'event', 'status', 'store'] as const;

/**
 * Counts writes that were refused because another attempt, a cancel or a rollback had taken the thread. Each one
 * protected a thread; many of them mean workers that stall for longer than their lease.
 */
export function staleWriteCounter(metrics: Metrics): (kind: (typeof KINDS)[number], writes?: number) => void {
  const counter = metrics.counter(
    'lg_api_stale_writes_refused_total',
    'Writes refused because the thread had another owner by then.',
    ['kind'],
  );
  for (const kind of KINDS) counter.inc({ kind }, 0);
  return (kind, writes = 1) => counter.inc({ kind }, writes);
}
