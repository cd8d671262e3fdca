import { describe, expect, it } from 'vitest';
import { InvalidScheduleError, parseSchedule } from './schedule.ts';

/** Returns the first slots after an instant, in UTC to the minute. */
function slots(expression: string, timezone: string | undefined, from: string, count: number): string[] {
  const schedule = parseSchedule(expression, timezone);
  const found: string[] = [];
  for (let after: Date | undefined = new Date(from); found.length < count; ) {
    after = schedule.nextAfter(after);
    if (!after) break;
    found.push(after.toISOString().replace(':00.000Z', ''));
  }
  return found;
}

const NEW_YORK = 'America/New_York';

describe('a schedule', () => {
  it('is in UTC unless a time zone is named', () => {
    expect(slots('0 9 * * *', undefined, '2026-11-20T20:00:00Z', 2)).toEqual(['2026-11-21T09:00', '2026-11-22T09:00']);
    expect(slots('0 9 * * *', NEW_YORK, '2026-11-20T20:00:00Z', 1)).toEqual(['2026-11-21T14:00']);
  });

  it('returns whole minutes strictly after the instant', () => {
    expect(slots('* * * * *', undefined, '2026-11-20T20:00:00Z', 1)).toEqual(['2026-11-20T20:01']);
    expect(slots('* * * * *', undefined, '2026-11-20T20:00:59.999Z', 1)).toEqual(['2026-11-20T20:01']);
    expect(slots('1 20 * * *', undefined, '2026-11-20T20:00:59.999Z', 1)).toEqual(['2026-11-20T20:01']);
    expect(slots('0 20 * * *', 'UTC', '2026-11-20T20:00:00.001Z', 1)).toEqual(['2026-11-21T20:00']);
  });

  it('accepts seconds as a sixth field, also by the wall clock', () => {
    const second = (expression: string, from: string, timezone = NEW_YORK) =>
      parseSchedule(expression, timezone).nextAfter(new Date(from))?.toISOString();
    expect(second('* * * * * 30', '2026-11-20T20:00:30Z')).toBe('2026-11-20T20:01:30.000Z');
    expect(second('* * * * * */10', '2026-11-20T20:00:30.001Z')).toBe('2026-11-20T20:00:40.000Z');
    expect(second('0 9 * * MON 15', '2026-11-20T20:00:00Z')).toBe('2026-11-23T14:00:15.000Z');
    expect(second('0 9 * * * 15', '2026-11-20T14:00:14.999Z')).toBe('2026-11-20T14:00:15.000Z');
    expect(second('0 9 * * * 15', '2026-11-20T14:00:15Z')).toBe('2026-11-21T14:00:15.000Z');
    // The first time is skipped, the second occurs twice.
    expect(second('30 2 * * * 5', '2026-03-08T00:00:00Z')).toBe('2026-03-08T07:00:00.000Z');
    expect(second('30 1 * * * 5', '2026-11-01T06:30:00Z')).toBe('2026-11-02T06:30:05.000Z');
  });

  it('accepts names, steps, lists, either of two days, and macros', () => {
    expect(slots('0 0 * JAN MON-tue', undefined, '2026-01-01T00:00:00Z', 3)).toEqual([
      '2026-01-05T00:00',
      '2026-01-06T00:00',
      '2026-01-12T00:00',
    ]);
    expect(slots('5,*/20 8-9 1 * *', undefined, '2026-01-01T08:30:00Z', 3)).toEqual([
      '2026-01-01T08:40',
      '2026-01-01T09:00',
      '2026-01-01T09:05',
    ]);
    expect(slots('0 9 13 * 5', undefined, '2026-01-08T00:00:00Z', 2)).toEqual(['2026-01-09T09:00', '2026-01-13T09:00']);
    expect(slots('@daily', NEW_YORK, '2026-11-20T20:00:00Z', 1)).toEqual(['2026-11-21T05:00']);
    expect(slots('? * * * *', undefined, '2026-11-20T20:00:30Z', 1)).toEqual(['2026-11-20T20:01']);
  });
});

describe('when clocks are put forward', () => {
  it('a skipped time fires at the next existing minute', () => {
    expect(slots('30 2 * * *', NEW_YORK, '2026-03-07T12:00:00Z', 2)).toEqual(['2026-03-08T07:00', '2026-03-09T06:30']);
    expect(slots('30 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00:00Z', 2)).toEqual([
      '2018-11-04T03:00',
      '2018-11-05T02:30',
    ]);
    expect(slots('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00:00Z', 2)).toEqual([
      '2026-10-03T15:30',
      '2026-10-04T15:15',
    ]);
  });

  it('several skipped times fire once together', () => {
    expect(slots('15,45 2 * * *', NEW_YORK, '2026-03-07T12:00:00Z', 2)).toEqual([
      '2026-03-08T07:00',
      '2026-03-09T06:15',
    ]);
    expect(slots('0 2-4 * * *', NEW_YORK, '2026-03-07T12:00:00Z', 3)).toEqual([
      '2026-03-08T07:00',
      '2026-03-08T08:00',
      '2026-03-09T06:00',
    ]);
  });
});

describe('when clocks are put back', () => {
  it('a time that occurs twice fires only the first time', () => {
    const first = ['2026-11-01T05:30', '2026-11-02T06:30'];
    expect(slots('30 1 * * *', NEW_YORK, '2026-10-31T12:00:00Z', 2)).toEqual(first);
    expect(slots('30 1 * * *', NEW_YORK, '2026-11-01T05:45:00Z', 1)).toEqual([first[1]]);
    expect(slots('30 1 * * *', NEW_YORK, '2026-11-01T06:15:00Z', 1)).toEqual([first[1]]);
    expect(slots('*/30 1,2 * * *', NEW_YORK, '2026-11-01T04:30:00Z', 3)).toEqual([
      '2026-11-01T05:00',
      '2026-11-01T05:30',
      '2026-11-01T07:00',
    ]);
  });

  it('a schedule for every hour follows elapsed time', () => {
    expect(slots('30 * * * *', NEW_YORK, '2026-11-01T05:00:00Z', 3)).toEqual([
      '2026-11-01T05:30',
      '2026-11-01T06:30',
      '2026-11-01T07:30',
    ]);
    expect(slots('30 * * * *', NEW_YORK, '2026-03-08T06:00:00Z', 2)).toEqual(['2026-03-08T06:30', '2026-03-08T07:30']);
  });
});

describe('invalid schedules', () => {
  it.each([
    ['nope', 'five fields are needed (minute hour day month weekday) or six (seconds last), there is 1'],
    ['', 'there are 0'],
    ['* * * *', 'there are 4'],
    ['* * * * * * *', 'there are 7'],
    ['* * * * * 60', '60'],
    ['2026-01-01T00:00:00', 'there is 1'],
    ['@reboot', 'there is 1'],
    ['60 * * * *', '60'],
    ['*/0 * * * *', 'stepping'],
    ['0 0 * * 8', '8'],
  ])('%j is refused with the reason', (expression, reason) => {
    const parse = () => parseSchedule(expression);
    expect(parse).toThrow(InvalidScheduleError);
    expect(parse).toThrow(`Invalid cron schedule: '${expression}'. Reason: `);
    expect(parse).toThrow(reason);
  });

  it('a day that does not exist has no slot', () => {
    expect(parseSchedule('0 0 31 2 *', NEW_YORK).nextAfter(new Date())).toBeUndefined();
  });

  it.each(['Zap/Zop', '', '+02:00', 'UTC+2', 'UTC+02:00'])('the time zone %j is refused', (timezone) => {
    const parse = () => parseSchedule('* * * * *', timezone);
    expect(parse).toThrow(InvalidScheduleError);
    expect(parse).toThrow(`Invalid timezone: '${timezone}'`);
  });
});
