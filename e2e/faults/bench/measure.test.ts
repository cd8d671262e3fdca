import { expect, it } from 'vitest';
import { isMet, type Measure } from './measure.ts';

const measure: Measure = { what: 'runs lost', measured: 0, limit: 0, unit: '', samples: 300, needed: 300 };

it('a measure is met within its limit, when it has enough samples', () => {
  expect(isMet(measure)).toBe(true);
  expect(isMet({ ...measure, measured: 1 })).toBe(false);
  expect(isMet({ ...measure, measured: 5, limit: 4, atLeast: true })).toBe(true);
  expect(isMet({ ...measure, samples: 299 })).toBe(false);
});

it('a measure is not met without samples, or without a number', () => {
  const { needed: _, ...open } = measure;
  expect(isMet({ ...open, samples: 0 })).toBe(false);
  expect([Number.NaN, Number.NEGATIVE_INFINITY].map((measured) => isMet({ ...measure, measured }))).toEqual([
    false,
    false,
  ]);
  // A recorded result has null here.
  expect(isMet({ ...measure, measured: null as unknown as number })).toBe(false);
});
