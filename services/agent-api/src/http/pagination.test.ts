import { expect, it } from 'vitest';
import { paginationHeaders, toPage, totalIfKnown } from './pagination.ts';

it('a page names the next one only when there is one', () => {
  const page = toPage([1, 2, 3], { limit: 2, offset: 4 }, 7);
  expect(page).toEqual({ rows: [1, 2], total: 7, next: 6 });
  expect(paginationHeaders(page)).toEqual({ 'x-pagination-total': '7', 'x-pagination-next': '6' });
  expect(paginationHeaders(toPage([1], { limit: 2, offset: 4 }, 5))).toEqual({ 'x-pagination-total': '5' });
});

it('a total is exact up to 10,000 matches and says "at least one more" above', () => {
  expect(toPage([1, 2], { limit: 1, offset: 0 }, 10_000).total).toBe(10_000);
  expect(toPage([1, 2], { limit: 1, offset: 20 }, 10_001).total).toBe(22);
});

it('nothing is counted when the page shows the end', () => {
  expect(totalIfKnown([1], { limit: 10, offset: 5 })).toBe(6);
  expect(totalIfKnown([], { limit: 10, offset: 0 })).toBe(0);
  expect(totalIfKnown([], { limit: 10, offset: 1000 })).toBeUndefined();
  expect(totalIfKnown([1, 2], { limit: 1, offset: 0 })).toBeUndefined();
});
