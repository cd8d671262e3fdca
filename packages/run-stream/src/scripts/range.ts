/**
 * Returns one page of a thread's entries, or of one run's among them: `last`, `floor`, the id before the run's first
 * entry, the begin and the end of the range, `1` when there is more, the id before the thread's first entry ever (empty
 * when it is not known any more), then ids and texts in turn. Empty when nothing is known of the thread.
 */
export const RANGE = `
local events, head, sizes = KEYS[1], KEYS[2], KEYS[3]
local after, runId, maxBytes = ARGV[1], ARGV[2], tonumber(ARGV[3])
local known = redis.call('HMGET', head, 'last', 'floor', 'start:' .. runId, 'begin')
local last, floor = known[1], known[2]
if not last then return {} end
if redis.call('EXISTS', events) == 0 then floor = last end
local start = known[3] and string.sub(known[3], 3) or ''
local from = after
if after == '$' then from = last
elseif after == '' then
  if runId == '' then from = '0-0'
  elseif start == '' then from = last
  else from = start end
end

local function isAfter(a, b)
  local aMs, aSeq = string.match(a, '^(%d+)-(%d+)$')
  local bMs, bSeq = string.match(b, '^(%d+)-(%d+)$')
  local ahead = tonumber(aMs) - tonumber(bMs)
  return ahead > 0 or (ahead == 0 and tonumber(aSeq) > tonumber(bSeq))
end

-- One command looks at so much at most, also when hardly anything is of the run asked for: others wait for it.
local MAX_SCANNED_BYTES = 8 * maxBytes
local MAX_COUNT = 256
local reply = { last, floor, start, from, from, '0', known[4] or '' }
local scanned, bytes, scannedBytes, scannedEntries = from, 0, 0, 0
local count = 1
-- How large entries are is known only once they were taken out of the stream. So no command takes any from beyond the next of the
-- marks that stand about each megabyte.
local marks, nextMark = redis.call('LRANGE', sizes, 0, -1), 1
local function markAfter(id)
  while marks[nextMark] do
    local mark = string.match(marks[nextMark], '^(%S+)')
    if isAfter(mark, id) then return mark end
    nextMark = nextMark + 1
  end
end
while true do
  local mark = markAfter(scanned)
  local page = redis.call('XRANGE', events, '(' .. scanned, mark or '+', 'COUNT', count)
  for _, entry in ipairs(page) do
    local text = entry[2][2]
    scanned = entry[1]
    scannedBytes, scannedEntries = scannedBytes + #text + 64, scannedEntries + 1
    if runId == '' or string.sub(text, 1, #runId + 1) == runId .. '\\31' then
      reply[#reply + 1] = scanned
      reply[#reply + 1] = text
      bytes = bytes + #text + 64
    end
    if bytes >= maxBytes then break end
  end
  if bytes >= maxBytes or scannedBytes >= MAX_SCANNED_BYTES then reply[6] = '1' break end
  if #page < count then
    if not mark then break end
    scanned = mark
  end
  if scannedEntries > 0 then
    -- As many as there is room for, by the size of those seen; few at first, since the next ones may be larger.
    local fitting = math.floor((maxBytes - bytes) * scannedEntries / scannedBytes)
    count = math.max(1, math.min(MAX_COUNT, 4 * count, fitting))
  end
end
reply[5] = scanned
return reply
`;
