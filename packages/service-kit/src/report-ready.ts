import type { ServiceContext } from './service.ts';

/**
 * Reports a process of a deployment ready, and counts that and the request to stop under the names that operators of
 * agent servers know. A stopped process cannot be scraped, so the stop itself is not counted.
 */
export function reportReady({ lifecycle, metrics }: Pick<ServiceContext, 'lifecycle' | 'metrics'>): void {
  const requestsToStop = metrics.counter('lg_api_server_requested_to_stop_counter', 'Requests to this process to stop');
  lifecycle.stopping.addEventListener('abort', () => requestsToStop.inc(), { once: true });
  metrics.counter('lg_api_server_started_counter', 'Times this process has begun to serve').inc();
  lifecycle.ready();
}
