import { CURRENT_MS } from './current-ms.ts';
import { END_RUN } from './end-run.ts';

/** Ends a run without a last append. */
export const EXPIRE = `${END_RUN}${CURRENT_MS}
endRun(KEYS[1], KEYS[2], KEYS[3], ARGV[1], currentMs(), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]))
`;
