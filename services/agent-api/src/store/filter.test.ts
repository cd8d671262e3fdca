import { expect, it } from 'vitest';
import { checkFilter } from './filter.ts';

it.each([
  [{ n: { $regex: '.' } }, 'filter.n has an unknown operator $regex'],
  [{ n: { $gt: 1, plain: 2 } }, 'filter.n has an unknown operator plain'],
  [{ n: { $in: 1 } }, 'filter.n.$in must be a list'],
])('a filter with %j is refused with the name of its field', (filter, message) => {
  expect(() => checkFilter(filter)).toThrow(message);
});

it('a filter takes values, objects as values, and known operators', () => {
  const filter = { a: 1, b: null, c: { plain: 1 }, d: { $gte: 1, $lt: 2, $ne: null }, e: { $in: [1] }, f: ['$x'] };
  expect(checkFilter(filter)).toBe(filter);
});
