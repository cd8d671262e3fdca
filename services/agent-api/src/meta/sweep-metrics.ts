import { cancelLatency, sweptCounter } from '@runyard/run-engine';
import type { Metrics } from '@runyard/service-kit';

/**
 * Runs that had been cancelled and lost their worker; threads freed that nothing else would have freed; threads past their time
 * that were deleted, or pruned to what they are now; rows whose thread is gone.
 */
const KINDS = ['cancelled', 'mended', 'expired', 'pruned', 'orphans'];

/** What this process looks after beside its requests. */
export class SweepMetrics {
  readonly swept;
  readonly cancelLatency;

  constructor(metrics: Metrics) {
    this.swept = sweptCounter(metrics, KINDS);
    this.cancelLatency = cancelLatency(metrics);
  }
}
