import type { ServiceContext } from '../service.ts';
import { createApp } from './app.ts';
import { listen } from './listen.ts';

/**
 * Serves `/metrics` and `/ok` on a separate port when the configuration says so, for collectors that cannot reach the
 * service's own. When the port is in use, logs that and goes on: the service's own port serves the same.
 */
export async function listenForMetrics(
  context: ServiceContext,
  config: { HOST: string; LSD_PROM_METRICS_ENABLED: boolean; LSD_PROM_METRICS_PORT: number },
): Promise<void> {
  if (!config.LSD_PROM_METRICS_ENABLED) return;
  const port = config.LSD_PROM_METRICS_PORT;
  try {
    const app = createApp({ context, operations: [], metricsPrefix: 'lg_api_', isInner: () => true });
    await listen(app, { host: config.HOST, port, context, isAuxiliary: true });
  } catch (error) {
    context.logger.warn('opening the metrics port failed, serving metrics on the main port only', { port, error });
  }
}
