import { LeasedTask, type TaskLease } from '@runyard/leases';
import type { WebhookQueue } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';

const EVERY_MS = 60_000;

/** Removes expired lines of the log; one process of a deployment does it at a time. */
export function createWebhookRetention(options: {
  queue: Pick<WebhookQueue, 'removeOld'>;
  lease: TaskLease;
  keptMs: number;
  logger: Logger;
}): LeasedTask {
  const { queue, lease, keptMs, logger } = options;
  return new LeasedTask({
    lease,
    everyMs: EVERY_MS,
    async run(task) {
      while ((await task.mayContinue()) && (await queue.removeOld(keptMs)) > 0);
    },
    logger,
  });
}
