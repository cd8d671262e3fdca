import { cancelLatencyHistogram, sweptCounter } from '@runyard/run-engine';
import type { Metrics } from '@runyard/service-kit';

/**
 * `cancelled`: cancelled runs that had lost their worker. `mended`: threads freed that nothing else would have freed.
 * `expired` and `pruned`: threads past their ttl that were deleted or pruned. `orphans`: rows whose thread is deleted.
 */
const KINDS = ['cancelled', 'mended', 'expired', 'pruned', 'orphans'];

/** Counts what the sweeps of this process find. */
export class SweepMetrics {
  readonly swept;
  readonly cancelLatency;

  constructor(metrics: Metrics) {
    this.swept = sweptCounter(metrics, KINDS);
    this.cancelLatency = cancelLatencyHistogram(metrics);
  }
}
