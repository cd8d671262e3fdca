import * as contracts from '@runyard/contracts';
import type { WebhookDelivery, WebhookQueue } from '@runyard/run-engine';
import { ConflictError, NotFoundError, ok, UnprocessableError } from '@runyard/service-kit';
import type { RequireRun } from '../access/require-run.ts';
import { isRestricted, type Scope } from '../access/scope.ts';
import { READ_THREAD, UPDATE_THREAD } from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import { toWireTime } from '../http/wire-time.ts';
import { LEASE_MS } from './webhook-sender.ts';
import type { WebhookTargets } from './webhook-targets.ts';

export interface WebhookLogOptions {
  queue: Pick<WebhookQueue, 'listOfRun' | 'redeliver'>;
  targets: Pick<WebhookTargets, 'refusalOf'>;
  requireRun: RequireRun;
  /** Is called when something is due again, to wake the senders. */
  onQueued(): void;
}

/**
 * Reads the log of webhooks, and sends again what is in it. It outlives the run of a stateless thread, and a deleted
 * run, for those who may see all.
 */
export class WebhookLog {
  readonly #options: WebhookLogOptions;

  constructor(options: WebhookLogOptions) {
    this.#options = options;
  }

  /** @throws NotFoundError */
  async ofRun(scope: Scope, threadId: string, runId: string): Promise<contracts.WebhookDelivery[]> {
    return (await this.#deliveriesOf(scope, threadId, runId)).map(toWireDelivery);
  }

  /**
   * Sends a delivery again, also one that waits for its next try. The rules for receivers may have changed since it was
   * accepted: those of today count.
   *
   * @throws NotFoundError, ConflictError when what was to be sent is no longer stored, UnprocessableError
   */
  async redeliver(
    scope: Scope,
    { threadId, runId, deliveryId }: { threadId: string; runId: string; deliveryId: string },
  ): Promise<contracts.WebhookDelivery> {
    const { queue, targets, onQueued } = this.#options;
    const found = await this.#find(scope, threadId, runId, deliveryId);
    if (!found.hasContent) {
      throw new ConflictError('What was to be sent is no longer stored.', { code: 'webhook_content_deleted' });
    }
    const refusal = await targets.refusalOf(found.url);
    if (refusal !== undefined) throw new UnprocessableError(refusal, { code: 'webhook_refused' });
    await queue.redeliver({ threadId, runId, deliveryId }, LEASE_MS);
    onQueued();
    return toWireDelivery(await this.#find(scope, threadId, runId, deliveryId));
  }

  async #find(scope: Scope, threadId: string, runId: string, deliveryId: string): Promise<WebhookDelivery> {
    const found = (await this.#deliveriesOf(scope, threadId, runId)).find((each) => each.deliveryId === deliveryId);
    if (!found) throw new NotFoundError('Webhook delivery not found.');
    return found;
  }

  async #deliveriesOf(scope: Scope, threadId: string, runId: string): Promise<WebhookDelivery[]> {
    const deliveries = await this.#options.queue.listOfRun(threadId, runId);
    if (deliveries.length === 0 || isRestricted(scope)) await this.#options.requireRun(scope, threadId, runId);
    return deliveries;
  }
}

export function webhookLogRoutes(log: WebhookLog, guard: RouteGuard): GuardedOperation[] {
  return [
    guard.bind(contracts.listWebhookDeliveries, [READ_THREAD], async ({ params }, [scope]) =>
      ok(await log.ofRun(scope, params.thread_id, params.run_id)),
    ),
    guard.bind(contracts.redeliverWebhook, [UPDATE_THREAD], async ({ params }, [scope]) => {
      const { thread_id: threadId, run_id: runId, delivery_id: deliveryId } = params;
      return ok(await log.redeliver(scope, { threadId, runId, deliveryId }));
    }),
  ];
}

function toWireDelivery(delivery: WebhookDelivery): contracts.WebhookDelivery {
  const { deliveryId, url, status, attempts, dueAt, createdAt, endedAt } = delivery;
  return {
    delivery_id: deliveryId,
    url: withoutQuery(url),
    status,
    attempts: attempts.map(({ startedAt, durationMs, statusCode, error }) => ({
      started_at: toWireTime(startedAt),
      duration_ms: durationMs,
      status_code: statusCode,
      error,
    })),
    next_attempt_at: dueAt && toWireTime(dueAt),
    created_at: toWireTime(createdAt),
    ended_at: endedAt && toWireTime(endedAt),
  };
}

/** Removes the query, in which receivers get their secrets; those of default receivers are not the caller's. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '');
}
