import type { WebhookQueue } from '@runyard/run-engine';
import { cacheForScrape, type Metrics } from '@runyard/service-kit';
import type { DeliveryResult } from './deliver-webhook.ts';

/** Registers the metrics. Returns a function that counts a try by its outcome. */
export function registerWebhookMetrics(
  metrics: Metrics,
  queue: Pick<WebhookQueue, 'countPending'>,
): (outcome: DeliveryResult['kind']) => void {
  const tries = metrics.counter('lg_api_webhook_attempts_total', 'Tries to deliver a webhook, by outcome.', [
    'outcome',
  ]);
  for (const outcome of ['delivered', 'retried', 'failed', 'refused', 'postponed']) tries.inc({ outcome }, 0);
  const waiting = cacheForScrape(() => queue.countPending());
  metrics.gauge('lg_api_webhooks_pending', 'Webhooks that wait for a try.', [], async (gauge) => {
    const pending = await waiting();
    if (pending === undefined) gauge.remove();
    else gauge.set(pending);
  });
  return (outcome) => tries.inc({ outcome });
}
