import type { Duty } from '@runyard/database';
import type { WebhookQueue } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';

export interface WebhookRetentionOptions {
  queue: Pick<WebhookQueue, 'removeOld'>;
  duty: Pick<Duty, 'isMine' | 'release'>;
  keptMs: number;
  everyMs?: number;
  logger: Logger;
}

/** Removes lines of the log that are past their time; one process of a deployment does it. */
export class WebhookRetention {
  readonly #options: WebhookRetentionOptions;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;

  constructor(options: WebhookRetentionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.sweep(), this.#options.everyMs ?? 60_000).unref();
  }

  /** One pass, unless one is under way. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
    await this.#options.duty.release().catch(() => undefined);
  }

  async #sweep(): Promise<void> {
    const { queue, duty, keptMs, logger } = this.#options;
    try {
      while ((await duty.isMine()) && (await queue.removeOld(keptMs)) > 0);
    } catch (error) {
      logger.warn('the log of webhooks could not be swept', { error });
    }
  }
}
