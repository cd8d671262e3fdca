import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceContext } from '@runyard/service-kit';
import { isUnavailable } from './sql-errors.ts';

const RETRY_MS = 500;
/** Number of tries per log line: one line in ten seconds. */
const LOG_EVERY = 20;

/**
 * Repeats a step of a service's start while the database is unavailable: services and servers start in any order. The
 * step must be safe to repeat. Rejects when the service is asked to stop.
 */
export async function retryStartStep<T>(
  step: () => Promise<T>,
  { logger, lifecycle }: Pick<ServiceContext, 'logger' | 'lifecycle'>,
  isWorthWaiting: (error: unknown) => boolean = isUnavailable,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    lifecycle.stopping.throwIfAborted();
    try {
      return await step();
    } catch (error) {
      if (!isWorthWaiting(error)) throw error;
      if (tries % LOG_EVERY === 0) logger.warn('waiting for the database', { error });
    }
    await pause(RETRY_MS, undefined, { signal: lifecycle.stopping }).catch(() => undefined);
  }
}
