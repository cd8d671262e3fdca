import { CURRENT_MS } from './current-ms.ts';

/**
 * Events go at once. What is left is an epoch (epochs are milliseconds) above that of whoever still writes, and below that of a
 * new thread with the same id.
 */
export const FORGET = `${CURRENT_MS}
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
redis.call('HSET', KEYS[2], 'epoch', string.format('%.0f', currentMs()))
redis.call('PEXPIRE', KEYS[2], ARGV[1])
`;
