/**
 * Deletes events at once. Only the given epoch stays: above that of late writers, and not above that of a new thread
 * with the same id. When such a thread has already written, everything there belongs to it.
 */
export const FORGET = `
local epoch = redis.call('HGET', KEYS[2], 'epoch')
if epoch and tonumber(epoch) > tonumber(ARGV[1]) then return end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
redis.call('HSET', KEYS[2], 'epoch', ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
`;
