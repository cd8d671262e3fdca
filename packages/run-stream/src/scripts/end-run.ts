/** Marks a run as ended: sets when its entries expire, and when the keys do if no run of the thread is in flight. */
export const END_RUN = `
local function endRun(events, head, ends, starts, runId, now, resumableTtl, graceTtl, fenceTtl)
  local known = redis.call('HMGET', head, 'last', 'run', 'start:' .. runId, 'stop:' .. runId, 'until')
  local last, currentRun, start, stop, untilMs = known[1], known[2], known[3], known[4], known[5]
  if not start or string.sub(start, 1, 1) == 'e' then return end
  local due = now + (string.sub(start, 1, 1) == '1' and resumableTtl or graceTtl)
  redis.call('RPUSH', ends, string.format('%.0f', due) .. ' ' .. (currentRun == runId and last or stop) .. ' ' .. runId)
  if untilMs and tonumber(untilMs) > due then due = tonumber(untilMs) end
  redis.call('HSET', head, 'until', string.format('%.0f', due), 'start:' .. runId, 'e' .. string.sub(start, 2))
  if redis.call('HINCRBY', head, 'open', -1) > 0 then return end
  redis.call('PEXPIREAT', events, string.format('%.0f', due))
  redis.call('PEXPIREAT', ends, string.format('%.0f', due))
  redis.call('PEXPIREAT', starts, string.format('%.0f', due))
  redis.call('PEXPIREAT', head, string.format('%.0f', due + fenceTtl))
end
`;
