import type { ClaimedWebhook, WebhookLoad, WebhookQueue } from '@runyard/run-engine';
import { DueWork, type Logger } from '@runyard/service-kit';
import { type DeliveryResult, TIMEOUT_MS } from './deliver-webhook.ts';

export interface WebhookSenderOptions {
  queue: Pick<WebhookQueue, 'claim' | 'recordOutcome' | 'release' | 'failAllFor'>;
  /** Makes one try; never throws. */
  deliver: (webhook: ClaimedWebhook) => Promise<DeliveryResult>;
  /** Tries in flight at once (`concurrency`), and to one host (`perHost`). */
  concurrency: number;
  perHost?: number;
  /** Bytes of the bodies in flight at once, and to one host. */
  bytes?: number;
  bytesPerHost?: number;
  onResult: (result: DeliveryResult) => void;
  logger: Logger;
}

const BYTES_MAX = 64 * 1024 * 1024;
const GONE = 410;
/** Longer than a try, with its decryption: a delivery whose process died is retried after this. */
export const LEASE_MS = TIMEOUT_MS + 20_000;
/** A safety net: wake-ups and the time of the next retry normally wake the sender. */
const LOOK_EVERY_MS = 30_000;
/** Another process is taking what is due. */
const TAKEN_MS = 100;

/**
 * Sends what the queue holds: it sleeps until something is due, claims no more than it has places for, and leaves
 * places to other hosts when one is slow. Every process of a deployment has one; the queue gives each delivery to one
 * of them.
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #inFlight = new Map<ClaimedWebhook, Promise<void>>();
  readonly #due: DueWork;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    this.#due = new DueWork({
      work: () => this.#takeDue(),
      onError: (error) => options.logger.warn('claiming webhooks failed, will retry', { error }),
    });
  }

  start(): void {
    this.#due.start();
  }

  /** Wakes the sender: something may be due. */
  wake(): void {
    this.#due.wake();
  }

  /**
   * Begins no further try and waits up to `patienceMs` for those in flight; the rest is given back, or returns when its
   * lease ends.
   */
  async stop(patienceMs: number): Promise<void> {
    await this.#due.stop();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patienceMs);
    });
    await Promise.race([Promise.all(this.#inFlight.values()), late]);
    clearTimeout(timer);
    const left = [...this.#inFlight.keys()];
    this.#inFlight.clear();
    await this.#options.queue.release(left).catch((error: unknown) => {
      this.#options.logger.warn('releasing webhooks in flight failed', { error, webhooks: left.length });
    });
  }

  /** Starts what is due as far as there are places. Returns the milliseconds until it should look again. */
  async #takeDue(): Promise<number> {
    const { queue, concurrency, perHost = Math.max(1, Math.ceil(concurrency / 4)) } = this.#options;
    const { bytes = BYTES_MAX, bytesPerHost = bytes / 4 } = this.#options;
    const inFlight = this.#loadByHost();
    const held = [...inFlight.values()].reduce((sum, load) => sum + load.bytes, 0);
    const limit = { count: concurrency - this.#inFlight.size, bytes: bytes - held };
    // A place that becomes free wakes the sender.
    if (limit.count <= 0 || limit.bytes <= 0) return LOOK_EVERY_MS;
    const limitPerHost = { count: perHost, bytes: bytesPerHost };
    const { claimed, nextInMs } = await queue.claim({ limit, limitPerHost, inFlight, leaseMs: LEASE_MS });
    for (const webhook of claimed) this.#start(webhook);
    if (claimed.length > 0) return 0;
    if (nextInMs === null) return LOOK_EVERY_MS;
    return Math.min(Math.max(Math.ceil(nextInMs), TAKEN_MS), LOOK_EVERY_MS);
  }

  #loadByHost(): Map<string, WebhookLoad> {
    const loads = new Map<string, WebhookLoad>();
    for (const { host, bytes } of this.#inFlight.keys()) {
      const load = loads.get(host) ?? { count: 0, bytes: 0 };
      loads.set(host, { count: load.count + 1, bytes: load.bytes + bytes });
    }
    return loads;
  }

  #start(webhook: ClaimedWebhook): void {
    const attempt = this.#try(webhook).finally(() => {
      this.#inFlight.delete(webhook);
      this.wake();
    });
    this.#inFlight.set(webhook, attempt);
  }

  async #try(webhook: ClaimedWebhook): Promise<void> {
    const { queue, deliver, onResult, logger } = this.#options;
    try {
      const result = await deliver(webhook);
      // A stop gave it back meanwhile: another process retries it.
      if (!this.#inFlight.has(webhook)) return;
      if (result.kind === 'postponed') {
        await queue.release([webhook], result.retryInMs ?? 0);
        onResult(result);
      } else if (await queue.recordOutcome(result)) onResult(result);
      if (result.statusCode === GONE) {
        await queue.failAllFor(webhook.url, webhook.host, 'The receiver has said of another run that it is gone');
      }
    } catch (error) {
      // The lease brings it back.
      logger.warn('storing the outcome of a webhook failed, will retry', { error, deliveryId: webhook.deliveryId });
    }
  }
}
