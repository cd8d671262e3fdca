/** Each bucket ends a tenth above the one before: the middle of one is within 5% of all in it. */
const GROWTH = Math.log(1.1);

/** Returns the number of the bucket of a time in milliseconds; that of 0 ms is 0. */
export function bucketOf(ms: number): number {
  return ms < 1 ? 0 : 1 + Math.floor(Math.log(ms) / GROWTH);
}

/** Returns the milliseconds in the middle of a bucket. */
function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : Math.round(Math.exp((bucket - 0.5) * GROWTH));
}

/** Numbers of runs by their bucket. */
export type LatencyCounts = ReadonlyMap<number, number>;

/** Returns the time below which the share of all runs is; null when there are none. */
export function percentileOf(counts: LatencyCounts, share: number): number | null {
  const buckets = [...counts].sort(([one], [other]) => one - other);
  const total = buckets.reduce((sum, [, runs]) => sum + runs, 0);
  let below = 0;
  for (const [bucket, runs] of buckets) {
    below += runs;
    if (below >= share * total) return middleOf(bucket);
  }
  return null;
}
