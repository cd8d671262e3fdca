import type { Logger } from '@runyard/service-kit';
import { type logCreator, logLevel } from 'kafkajs';

/**
 * Routes kafkajs's log into the service's. Its reports of failed connections and restarted consumers are normal and
 * come in bursts while a broker is unavailable, so they are logged a level lower; the adapter logs what matters.
 */
export function kafkaLogCreator(logger: Logger): logCreator {
  const log = logger.child({ part: 'kafka client' });
  return () =>
    ({ level, log: { message, timestamp: _timestamp, logger: _name, stack: _stack, ...fields } }) => {
      if (level === logLevel.ERROR || level === logLevel.WARN) log.debug(message, fields);
    };
}
