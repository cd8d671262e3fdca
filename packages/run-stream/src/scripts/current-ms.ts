/** The server's clock: whoever appends or ends a run, from whichever machine, counts by the same one. */
export const CURRENT_MS = `
local function currentMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;
