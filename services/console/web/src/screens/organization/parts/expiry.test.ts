import { expect, it } from 'vitest';
import { expiresAt, firstExpiry } from './expiry.ts';

const NOW = new Date('2026-12-01T06:00:00.000Z');

it('a key ends after the days that were chosen, and never only where that was chosen', () => {
  expect(expiresAt({ after: '30', date: '' }, NOW)).toBe('2026-12-31T06:00:00.000Z');
  expect(expiresAt({ after: 'never', date: '' }, NOW)).toBeNull();
});

it('a day that is missing or has passed makes no key without an end', () => {
  expect(() => expiresAt({ after: 'date', date: '' }, NOW)).toThrow('on which day');
  expect(() => expiresAt({ after: 'date', date: '2026-11-01' }, NOW)).toThrow('has passed');
});

it('a chosen day counts to its end', () => {
  const end = new Date(expiresAt({ after: 'date', date: '2026-12-24' }, NOW)!);
  expect([end.getDate(), end.getHours()]).toEqual([24, 23]);
});

it('a form never begins with a time that the organization refuses', () => {
  expect(firstExpiry(null).after).toBe('90');
  expect(firstExpiry(60).after).toBe('30');
  expect(firstExpiry(3).after).toBe('date');
});
