import { type Duty, DutyRounds } from '@runyard/database';
import type { WebhookQueue } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';

const EVERY_MS = 60_000;

/** Removes expired lines of the log; one process of a deployment does it at a time. */
export function createWebhookRetention(options: {
  queue: Pick<WebhookQueue, 'removeOld'>;
  duty: Pick<Duty, 'isMine' | 'release'>;
  keptMs: number;
  logger: Logger;
}): DutyRounds {
  const { queue, duty, keptMs, logger } = options;
  return new DutyRounds({
    duty,
    everyMs: EVERY_MS,
    async round(rounds) {
      while (!rounds.isClosing && (await duty.isMine()) && (await queue.removeOld(keptMs)) > 0);
    },
    onError: (error) => logger.warn('sweeping the webhook log failed, will retry', { error }),
  });
}
