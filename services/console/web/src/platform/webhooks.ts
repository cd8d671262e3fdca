import type { WebhookDelivery } from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask, PlatformError } from './ask.ts';
import { msUntilDue } from './due-time.ts';
import { at } from './path.ts';
import type { RunPlace } from './runs.ts';

const pathOf = ({ deploymentId, threadId, runId }: RunPlace) =>
  at`/deployments/${deploymentId}/threads/${threadId}/runs/${runId}/webhook-deliveries`;

/** The webhooks of a run, one per receiver. While one waits for its next attempt, they are read again after that. */
export function webhookDeliveriesQuery(place: RunPlace) {
  return queryOptions({
    queryKey: ['webhook-deliveries', place.workspaceId, place.deploymentId, place.runId],
    queryFn: ({ signal }) => listDeliveries(place, signal),
    refetchInterval: ({ state: { data } }) => msUntilDue(data?.flatMap(dueTimes) ?? [], Date.now()),
  });
}

/** Sends a webhook again, with all its attempts and under the same id. @throws PlatformError */
export function redeliver(place: RunPlace, deliveryId: string): Promise<WebhookDelivery> {
  return ask<WebhookDelivery>(at`${pathOf(place)}/${deliveryId}/redeliver`, {
    method: 'POST',
    workspaceId: place.workspaceId,
  });
}

/** The log of a run has gone with its deployment, or after its time: then there is nothing to show. */
async function listDeliveries(place: RunPlace, signal: AbortSignal): Promise<WebhookDelivery[]> {
  try {
    return await ask<WebhookDelivery[]>(pathOf(place), { workspaceId: place.workspaceId, signal });
  } catch (error) {
    if (error instanceof PlatformError && error.status === 404) return [];
    throw error;
  }
}

/** While the first attempt is in flight, its next one is the only time that the platform names, and that is far away. */
function dueTimes({ status, attempts, created_at: createdAt, next_attempt_at: next }: WebhookDelivery) {
  if (status !== 'pending') return [];
  return attempts.length === 0 ? [createdAt, next] : [next];
}
