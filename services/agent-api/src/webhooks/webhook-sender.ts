import type { ClaimedWebhook, WebhookQueue } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';
import { DueWork } from '../due-work.ts';
import { type DeliveryResult, TIMEOUT_MS } from './deliver-webhook.ts';

export interface WebhookSenderOptions {
  queue: Pick<WebhookQueue, 'claim' | 'settle' | 'giveBack'>;
  /** Makes one try; never throws. */
  deliver: (webhook: ClaimedWebhook) => Promise<DeliveryResult>;
  /** Tries under way at once, and of them to one host. */
  concurrency: number;
  perHost?: number;
  onResult: (result: DeliveryResult) => void;
  logger: Logger;
}

/** Longer than a try: one whose process died is tried again after this. */
const LEASE_MS = TIMEOUT_MS + 20_000;
/** A safety look: what wakes the sender is being told, and the time of the next retry. */
const LOOK_EVERY_MS = 30_000;
/** What is due is in another process's hands at this moment. */
const TAKEN_MS = 100;

/**
 * Sends what the queue holds: sleeps until something is due, takes no more than it has places for, and leaves places to other
 * hosts when one is slow. Every process of a deployment has one; the queue gives each delivery to one of them.
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #underWay = new Map<ClaimedWebhook, Promise<void>>();
  readonly #due: DueWork;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    this.#due = new DueWork({
      work: () => this.#takeDue(),
      onError: (error) => options.logger.warn('webhooks cannot be read from the database at the moment', { error }),
    });
  }

  start(): void {
    this.#due.start();
  }

  /** Something may be due: looks at once. */
  soon(): void {
    this.#due.soon();
  }

  /** Begins no further try and waits so long for those under way; the rest is given back. */
  async stop(patienceMs: number): Promise<void> {
    await this.#due.stop();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patienceMs);
    });
    await Promise.race([Promise.all(this.#underWay.values()), late]);
    clearTimeout(timer);
    const left = [...this.#underWay.keys()];
    this.#underWay.clear();
    await this.#options.queue.giveBack(left);
  }

  /** Starts what is due as far as there are places; answers the milliseconds until it is worth looking again. */
  async #takeDue(): Promise<number> {
    const { queue, concurrency, perHost = Math.max(1, Math.ceil(concurrency / 4)) } = this.#options;
    // A place that becomes free wakes us.
    const limit = concurrency - this.#underWay.size;
    if (limit <= 0) return LOOK_EVERY_MS;
    const underWay = this.#countByHost();
    const { claimed, nextInMs } = await queue.claim({ limit, limitPerHost: perHost, underWay, leaseMs: LEASE_MS });
    for (const webhook of claimed) this.#start(webhook);
    if (claimed.length > 0) return 0;
    if (nextInMs === null) return LOOK_EVERY_MS;
    return Math.min(Math.max(Math.ceil(nextInMs), TAKEN_MS), LOOK_EVERY_MS);
  }

  #countByHost(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { host } of this.#underWay.keys()) counts.set(host, (counts.get(host) ?? 0) + 1);
    return counts;
  }

  #start(webhook: ClaimedWebhook): void {
    const attempt = this.#try(webhook).finally(() => {
      this.#underWay.delete(webhook);
      this.soon();
    });
    this.#underWay.set(webhook, attempt);
  }

  async #try(webhook: ClaimedWebhook): Promise<void> {
    const { queue, deliver, onResult, logger } = this.#options;
    try {
      const result = await deliver(webhook);
      // Given back by a stop meanwhile: somebody else tries again.
      if (!this.#underWay.has(webhook)) return;
      if (await queue.settle(result)) onResult(result);
    } catch (error) {
      // The lease brings it back.
      logger.warn('the outcome of a webhook could not be written down', { error, deliveryId: webhook.deliveryId });
    }
  }
}
