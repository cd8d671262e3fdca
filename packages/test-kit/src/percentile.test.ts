import { expect, it } from 'vitest';
import { percentile } from './percentile.ts';

it('a percentile is the value that the given share of the numbers does not exceed', () => {
  const numbers = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect([0, 0.5, 0.99, 1].map((q) => percentile(numbers, q))).toEqual([1, 50, 99, 100]);
  expect([percentile([7], 0.99), percentile([], 0.5)]).toEqual([7, 0]);
});
