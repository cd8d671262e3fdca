import { CURRENT_MS } from './current-ms.ts';
import { END_RUN } from './end-run.ts';
import { STORED_RUNS } from './stored-runs.ts';

/** Ends a run without a last append. */
export const EXPIRE = `${STORED_RUNS}${END_RUN}${CURRENT_MS}
local events, head, ends, starts = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if redis.call('HEXISTS', head, 'start:' .. ARGV[1]) == 0 then return end
loadRuns(head, ends, starts)
endRun(events, head, ends, starts, ARGV[1], currentMs(), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]))
noteSeen(head, ends)
`;
