/**
 * Looks up the runs that a thread's stream stores: `starts` has them by the id before their first entry, and `open` of
 * the head counts those that have not ended. Reading the fields of all runs at each append and end would make the
 * stream of a busy thread quadratic.
 *
 * The previous release keeps the fields alone. Each change of hers moves `last`, or the length of `ends`: where these
 * are not as the last script here left them (`seen`), both are made anew from the fields.
 */
export const STORED_RUNS = `
local function scoreOf(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return string.format('%.0f', tonumber(ms) * 1000 + tonumber(seq))
end
local function seenNow(head, ends)
  return (redis.call('HGET', head, 'last') or '') .. ' ' .. redis.call('LLEN', ends)
end
local function loadRuns(head, ends, starts)
  if redis.call('HGET', head, 'seen') == seenNow(head, ends) then return end
  redis.call('DEL', starts)
  local open = 0
  local fields = redis.call('HGETALL', head)
  for index = 1, #fields, 2 do
    if string.sub(fields[index], 1, 6) == 'start:' then
      local state = fields[index + 1]
      redis.call('ZADD', starts, scoreOf(string.sub(state, 3)), string.sub(fields[index], 7))
      if string.sub(state, 1, 1) ~= 'e' then open = open + 1 end
    end
  end
  redis.call('HSET', head, 'open', open)
end
local function noteSeen(head, ends)
  redis.call('HSET', head, 'seen', seenNow(head, ends))
end
`;
