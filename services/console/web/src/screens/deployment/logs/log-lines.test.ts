import type { LogEntry } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { mergeLines } from './log-lines.ts';

const line = (number: number): LogEntry => ({
  id: String(number).padStart(8, '0'),
  timestamp: number,
  level: 'INFO',
  message: `line ${number}`,
  source: 'agent-api',
  revision_id: '0192f7a0-0000-7000-8000-000000000002',
});
const lines = (...numbers: number[]) => numbers.map(line);
const numbersOf = (entries: readonly LogEntry[]) => entries.map(({ timestamp }) => timestamp);

test('a line that two pages contain is shown once', () => {
  const { entries, added } = mergeLines(lines(1, 2, 3), lines(3, 2, 4, 4));
  expect(numbersOf(entries)).toEqual([1, 2, 3, 4]);
  expect(added).toBe(1);
});

test('a page of older lines, newest first, comes before those that are there', () => {
  expect(numbersOf(mergeLines(lines(7, 8), lines(6, 5, 4)).entries)).toEqual([4, 5, 6, 7, 8]);
});

test('a line of another process that comes late stands at its time', () => {
  expect(numbersOf(mergeLines(lines(1, 2, 5), lines(3, 6)).entries)).toEqual([1, 2, 3, 5, 6]);
});

test('a page without news leaves the lines as they are', () => {
  const before = lines(1, 2);
  expect(mergeLines(before, lines(2, 1)).entries).toBe(before);
});

test('100,000 lines are kept at most, and the oldest go', () => {
  let entries: readonly LogEntry[] = [];
  let hasDropped = false;
  for (let from = 0; from < 101_000; from += 1_000) {
    ({ entries, hasDropped } = mergeLines(
      entries,
      Array.from({ length: 1_000 }, (_, index) => line(from + index)),
    ));
  }
  expect(entries).toHaveLength(100_000);
  expect(hasDropped).toBe(true);
  expect(entries[0]?.timestamp).toBe(1_000);
  expect(entries.at(-1)?.timestamp).toBe(100_999);
});
