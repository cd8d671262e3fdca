import { expect, test } from 'vitest';
import { msUntilDue } from './due-time.ts';

const NOW = Date.parse('2026-12-01T09:00:00Z');

test('the platform is asked a moment after the earliest time, and not at all where nothing is to come', () => {
  expect(msUntilDue(['2026-12-01T09:05:00Z', null, '2026-12-01T09:01:00Z'], NOW)).toBe(62_000);
  expect(msUntilDue([null, undefined], NOW)).toBe(false);
});

test('the platform is asked less and less often for something that is long overdue', () => {
  expect(msUntilDue(['2026-12-01T08:59:59Z'], NOW)).toBe(2_000);
  expect(msUntilDue(['2026-12-01T08:00:00Z'], NOW)).toBe(3_600_000);
});

test('a time that no timer reaches does not become a timer that ends at once', () => {
  expect(msUntilDue(['2036-12-01T09:00:00Z'], NOW)).toBe(2 ** 31 - 1);
});
