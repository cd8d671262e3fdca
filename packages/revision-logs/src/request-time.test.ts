import { describe, expect, it } from 'vitest';
import { parseRequestTime } from './request-time.ts';

describe('the time of a request', () => {
  it.each([
    ['2026-03-08', '2026-03-08T00:00:00.000Z'],
    ['2026-03-08T01:02:03Z', '2026-03-08T01:02:03.000Z'],
    ['2026-03-08T01:02:03', '2026-03-08T01:02:03.000Z'],
    ['2026-03-08 01:02:03', '2026-03-08T01:02:03.000Z'],
    // The official clients send this form back to follow a log.
    ['2026-03-08T01:02:03.123000+00:00', '2026-03-08T01:02:03.123Z'],
    ['2026-03-08T01:02:03.123Z', '2026-03-08T01:02:03.123Z'],
    ['2026-03-08T01:02:03+02:00', '2026-03-07T23:02:03.000Z'],
    ['2026-03-08T01:02:03+0530', '2026-03-07T19:32:03.000Z'],
    ['2026-03-08T01:02:03-05', '2026-03-08T06:02:03.000Z'],
    ['2026-03-08t01:02:03z', '2026-03-08T01:02:03.000Z'],
  ])('%s is %s', (text, time) => {
    expect(new Date(parseRequestTime(text, [])).toISOString()).toBe(time);
  });

  it('that does not exist is refused with its location', () => {
    expect(() => parseRequestTime('2026-03-08T23:59:60Z', ['body', 'end_time'])).toThrow(
      expect.objectContaining({
        body: { detail: [{ loc: ['body', 'end_time'], msg: expect.any(String), type: 'value_error' }] },
      }),
    );
  });
});
