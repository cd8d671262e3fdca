import * as contracts from '@runyard/contracts';
import type { WebhookDelivery, WebhookQueue } from '@runyard/run-engine';
import { ok } from '@runyard/service-kit';
import type { RequireRun } from '../access/require-run.ts';
import { isRestricted, type Scope } from '../access/scope.ts';
import { READ_THREAD } from '../auth/operation-questions.ts';
import type { GuardedOperation, RouteGuard } from '../auth/route-guard.ts';
import { toWireTime } from '../http/wire-time.ts';

/**
 * Reads the log of webhooks. It outlives the run of a stateless thread, and a deleted run, for those who may see all.
 */
export class WebhookLog {
  readonly #queue: Pick<WebhookQueue, 'listOfRun'>;
  readonly #requireRun: RequireRun;

  constructor(options: { queue: Pick<WebhookQueue, 'listOfRun'>; requireRun: RequireRun }) {
    this.#queue = options.queue;
    this.#requireRun = options.requireRun;
  }

  /** @throws NotFoundError */
  async ofRun(scope: Scope, threadId: string, runId: string): Promise<contracts.WebhookDelivery[]> {
    const deliveries = await this.#queue.listOfRun(threadId, runId);
    if (deliveries.length === 0 || isRestricted(scope)) await this.#requireRun(scope, threadId, runId);
    return deliveries.map(toWireDelivery);
  }
}

export function webhookLogRoutes(log: WebhookLog, guard: RouteGuard): GuardedOperation[] {
  return [
    guard.bind(contracts.listWebhookDeliveries, [READ_THREAD], async ({ params }, [scope]) =>
      ok(await log.ofRun(scope, params.thread_id, params.run_id)),
    ),
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
