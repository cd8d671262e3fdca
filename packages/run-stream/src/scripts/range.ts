/**
 * One page of a thread's entries, or of one run's among them: `last`, `floor`, the id before the run's first entry, where the range
 * began, how far it went, `1` when there is more, then ids and texts in turn. Empty when nothing is known of the thread.
 */
export const RANGE = `
local events, head = KEYS[1], KEYS[2]
local after, runId, maxBytes = ARGV[1], ARGV[2], tonumber(ARGV[3])
local known = redis.call('HMGET', head, 'last', 'floor', 'start:' .. runId)
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

-- One command looks at so much at most, also when hardly anything is of the run asked for: others wait for it.
local MAX_SCANNED_BYTES = 8 * maxBytes
local MAX_COUNT = 256
local reply = { last, floor, start, from, from, '0' }
local scanned, bytes, scannedBytes, scannedEntries = from, 0, 0, 0
local count = 1
while true do
  local page = redis.call('XRANGE', events, '(' .. scanned, '+', 'COUNT', count)
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
  if #page < count then break end
  -- As many as there is room for, by the size of those seen.
  count = math.floor((maxBytes - bytes) * scannedEntries / scannedBytes)
  count = math.max(1, math.min(MAX_COUNT, count))
end
reply[5] = scanned
return reply
`;
