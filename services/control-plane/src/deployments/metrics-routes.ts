import { getDeploymentMetrics } from '@runyard/contracts';
import { type BoundOperation, bind, ok } from '@runyard/service-kit';
import type { MetricsService } from './metrics-service.ts';

export function metricsRoutes(metrics: MetricsService): BoundOperation[] {
  return [
    bind(getDeploymentMetrics, async ({ caller, params, query }) =>
      ok(await metrics.read(caller, params.deployment_id.toLowerCase(), query)),
    ),
  ];
}
