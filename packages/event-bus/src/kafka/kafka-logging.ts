import type { Logger } from '@runyard/service-kit';
import { type logCreator, logLevel } from 'kafkajs';

/**
 * Routes kafkajs's log into ours. Its reports of connections that fail and consumers that start over are part of its normal work
 * and come in bursts while a broker is away, so they are a level lower here; what matters is logged by the adapter.
 */
export function kafkaLogCreator(logger: Logger): logCreator {
  const log = logger.child({ part: 'kafka client' });
  return () =>
    ({ level, log: { message, timestamp: _timestamp, logger: _name, stack: _stack, ...fields } }) => {
      if (level === logLevel.ERROR || level === logLevel.WARN) log.debug(message, fields);
    };
}
