import { describe, expect, it } from 'vitest';
import { EntryIds, idsFrom, timeOfId } from './entry-ids.ts';

const NOW = Date.UTC(2026, 10, 23);
const take = (ids: EntryIds, count: number, now: number) => Array.from({ length: count }, () => ids.next(now));

describe('entry ids', () => {
  it('have one millisecond each, also in a burst', () => {
    const taken = take(new EntryIds(), 1_000, NOW);
    expect(taken.map(timeOfId)).toEqual(Array.from({ length: 1_000 }, (_, index) => NOW + index));
  });

  it('run ahead of the clock by a second at most, and stay in order even when the clock goes back', () => {
    const ids = new EntryIds();
    const taken = [...take(ids, 5_000, NOW), ...take(ids, 10, NOW - 60_000), ...take(ids, 10, NOW + 60_000)];
    expect([...taken].sort()).toEqual(taken);
    expect(new Set(taken).size).toBe(taken.length);
    expect(timeOfId(taken[4_999]!)).toBe(NOW + 1_000);
    expect(timeOfId(taken.at(-10)!)).toBe(NOW + 60_000);
  });

  it('can be compared with times', () => {
    const id = new EntryIds().next(NOW);
    expect(id >= idsFrom(NOW)).toBe(true);
    expect(id < idsFrom(NOW + 1)).toBe(true);
    expect(id < idsFrom(Number.MAX_SAFE_INTEGER)).toBe(true);
    expect(id > idsFrom(-5)).toBe(true);
  });
});
