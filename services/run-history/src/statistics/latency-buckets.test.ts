import { expect, it } from 'vitest';
import { bucketOf, percentileOf } from './latency-buckets.ts';

it('a percentile is within 5% of the measured time', () => {
  for (const ms of [1, 9, 40, 1_000, 12_345, 3_600_000, 2 ** 31 - 1]) {
    const found = percentileOf(new Map([[bucketOf(ms), 1]]), 0.5)!;
    expect(Math.abs(found - ms)).toBeLessThanOrEqual(Math.max(1, ms * 0.051));
  }
  expect(percentileOf(new Map([[bucketOf(0), 1]]), 0.5)).toBe(0);
});

it('percentiles are those of all runs, in whatever order they were counted', () => {
  const counts = new Map([
    [bucketOf(10_000), 5],
    [bucketOf(10), 90],
    [bucketOf(1_000), 5],
  ]);
  expect([0.5, 0.95, 0.99].map((share) => Math.log10(percentileOf(counts, share)!).toFixed(1))).toEqual([
    '1.0',
    '3.0',
    '4.0',
  ]);
  expect(percentileOf(new Map(), 0.5)).toBeNull();
});
