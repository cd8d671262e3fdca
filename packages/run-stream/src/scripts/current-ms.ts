/** Returns the server's clock, so that appends and ends from all machines use the same one. */
export const CURRENT_MS = `
local function currentMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;
