import { CURRENT_MS } from './current-ms.ts';
import { END_RUN } from './end-run.ts';
import { STORED_RUNS } from './stored-runs.ts';

/**
 * Appends a run's entries under the fence, publishes them, and deletes entries that have expired or exceed the limits.
 * Returns the first id and the number of trimmed entries. It changes all keys and ids of a thread atomically: a reader
 * never sees half an append.
 */
export const APPEND = `${STORED_RUNS}${END_RUN}${CURRENT_MS}
local events, head, ends, sizes, publishedEnds, starts = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local channel, epoch, runId, resumable, continues = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local knownMs, knownSeq = tonumber(ARGV[6]), tonumber(ARGV[7])
local maxLength, idleTtl, fenceTtl = ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
local resumableTtl, graceTtl, endsRun, maxBytes = tonumber(ARGV[11]), tonumber(ARGV[12]), ARGV[13], tonumber(ARGV[14])
local position = ARGV[15]
local FIRST_ENTRY = 16
local BYTES_PER_MARK = 1024 * 1024
local MAX_LIVE_BYTES = 512 * 1024

local function partsOf(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(seq)
end
local function idOf(ms, seq)
  return string.format('%.0f-%.0f', ms, seq)
end
local function before(ms, seq)
  if seq == 0 then return idOf(ms - 1, 999) end
  return idOf(ms, seq - 1)
end

local function larger(a, b)
  local aMs, aSeq = partsOf(a)
  local bMs, bSeq = partsOf(b)
  if aMs > bMs or (aMs == bMs and aSeq > bSeq) then return a end
  return b
end
local function smaller(a, b)
  if larger(a, b) == a then return b end
  return a
end

local known = redis.call('HMGET', head, 'epoch', 'last', 'floor', 'run', 'start:' .. runId, 'told:' .. runId)
if known[1] and epoch < tonumber(known[1]) then
  return redis.error_reply('STALEEPOCH ' .. known[1])
end
local last, floor, currentRun, start = known[2], known[3], known[4], known[5]
-- More than one may see to it that an end is published.
if endsRun == '1' and (known[6] or redis.call('ZSCORE', publishedEnds, runId)) then return { last or '0-0', 0 } end
if #ARGV < FIRST_ENTRY then
  redis.call('HSET', head, 'epoch', ARGV[2])
  redis.call('PEXPIRE', head, idleTtl + fenceTtl)
  return { last or '0-0', 0 }
end

local now = currentMs()
-- An epoch is the time of its claim by the database's clock: a Redis that was emptied, or whose clock is behind, gives
-- no id below those that earlier owners gave.
local ms, seq = knownMs, knownSeq
if epoch > ms then ms, seq = epoch, -1 end
if last then
  local lastMs, lastSeq = partsOf(last)
  if lastMs > ms or (lastMs == ms and lastSeq > seq) then ms, seq = lastMs, lastSeq end
end
if now > ms then ms, seq = now, -1 end

local function advance()
  seq = seq + 1
  if seq > 999 then ms, seq = ms + 1, 0 end
end
advance()
local firstId, beforeFirst = idOf(ms, seq), before(ms, seq)

if not last then
  redis.call('DEL', events, ends, sizes, starts)
  floor = beforeFirst
  redis.call('HSET', head, 'begin', beforeFirst, 'open', 0)
elseif redis.call('EXISTS', events) == 0 then
  redis.call('DEL', head, ends, sizes, starts)
  floor, currentRun, start = last, false, false
else
  loadRuns(head, ends, starts)
  local overUpTo
  local due = redis.call('LINDEX', ends, 0)
  while due do
    local dueMs, endId, endedRun = string.match(due, '^(%d+) (%S+) (%S+)$')
    if tonumber(dueMs) > now then break end
    redis.call('LPOP', ends)
    redis.call('HDEL', head, 'start:' .. endedRun, 'stop:' .. endedRun, 'told:' .. endedRun)
    redis.call('ZREM', starts, endedRun)
    if endedRun == currentRun then currentRun = false end
    overUpTo = overUpTo and larger(overUpTo, endId) or endId
    due = redis.call('LINDEX', ends, 0)
  end
  if overUpTo then
    -- A run may have begun before the last entry of those that are over: what it has must stay.
    local firstRun = redis.call('ZRANGE', starts, 0, 0)[1]
    local firstStart = firstRun and redis.call('HGET', head, 'start:' .. firstRun)
    if firstStart then overUpTo = smaller(overUpTo, string.sub(firstStart, 3)) end
    local overMs, overSeq = partsOf(overUpTo)
    redis.call('XTRIM', events, 'MINID', idOf(overMs, overSeq + 1))
    floor = larger(floor, overUpTo)
  end
end

if currentRun and currentRun ~= runId then
  redis.call('HSET', head, 'stop:' .. currentRun, last)
end
if not start then
  start = last or beforeFirst
  if continues == '1' and not last then start = '0-0' end
  redis.call('HSET', head, 'start:' .. runId, resumable .. ' ' .. start)
  redis.call('ZADD', starts, scoreOf(start), runId)
  redis.call('HINCRBY', head, 'open', 1)
  -- A new owner with another run: the run before is over, even if nobody could say so.
  if currentRun and currentRun ~= runId and epoch > tonumber(known[1]) then
    endRun(events, head, ends, starts, currentRun, now, resumableTtl, graceTtl, fenceTtl)
  end
end

local lastId, bytes = firstId, #ARGV[FIRST_ENTRY]
redis.call('XADD', events, firstId, 'e', ARGV[FIRST_ENTRY])
for index = FIRST_ENTRY + 1, #ARGV do
  advance()
  lastId = idOf(ms, seq)
  bytes = bytes + #ARGV[index]
  redis.call('XADD', events, lastId, 'e', ARGV[index])
end
local trimmed = redis.call('XTRIM', events, 'MAXLEN', '~', maxLength)
if trimmed > 0 then
  local oldest = redis.call('XRANGE', events, '-', '+', 'COUNT', 1)[1]
  floor = larger(floor, before(partsOf(oldest[1])))
end

-- The oldest megabytes go when there are more than may be kept; what was appended just now stays, however large.
local total = redis.call('HINCRBY', head, 'bytes', bytes)
local newest = redis.call('LINDEX', sizes, -1)
local markedBytes = newest and tonumber(string.match(newest, ' (%d+)$')) or 0
if total - markedBytes >= BYTES_PER_MARK then redis.call('RPUSH', sizes, lastId .. ' ' .. string.format('%.0f', total)) end
local mark = redis.call('LINDEX', sizes, 0)
while mark do
  local markId, upTo = string.match(mark, '^(%S+) (%d+)$')
  local isGone = larger(floor, markId) == floor
  if not isGone and (markId == lastId or total - tonumber(upTo) < maxBytes) then break end
  redis.call('LPOP', sizes)
  if not isGone then
    local markMs, markSeq = partsOf(markId)
    trimmed = trimmed + redis.call('XTRIM', events, 'MINID', idOf(markMs, markSeq + 1))
    floor = larger(floor, markId)
  end
  mark = redis.call('LINDEX', sizes, 0)
end

redis.call('HSET', head, 'epoch', ARGV[2], 'last', lastId, 'floor', floor, 'run', runId)
if position ~= '' then redis.call('HSET', head, 'position', position) end
redis.call('PEXPIRE', events, idleTtl)
redis.call('PEXPIRE', ends, idleTtl)
redis.call('PEXPIRE', sizes, idleTtl)
redis.call('PEXPIRE', starts, idleTtl)
redis.call('PEXPIRE', head, idleTtl + fenceTtl)
local message = (last or '0-0') .. '\\31' .. firstId
-- Redis drops a subscriber that lags behind by some megabytes: large entries are read from the stream by those who want them.
if bytes > MAX_LIVE_BYTES then message = message .. '\\31' .. lastId
else message = message .. '\\30' .. table.concat(ARGV, '\\30', FIRST_ENTRY) end
redis.call('PUBLISH', channel, message)
if endsRun == '1' then
  redis.call('HSET', head, 'told:' .. runId, '1')
  redis.call('ZREMRANGEBYSCORE', publishedEnds, '-inf', now - fenceTtl)
  redis.call('ZADD', publishedEnds, now, runId)
  redis.call('PEXPIRE', publishedEnds, fenceTtl)
  endRun(events, head, ends, starts, runId, now, resumableTtl, graceTtl, fenceTtl)
end
noteSeen(head, ends)
return { firstId, trimmed }
`;
