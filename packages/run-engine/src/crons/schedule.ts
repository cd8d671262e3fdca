import { Cron } from 'croner';
import { LocalTime } from './local-time.ts';

/** A schedule or time zone is invalid. The message is for its author. */
export class InvalidScheduleError extends Error {
  override readonly name = 'InvalidScheduleError';
  readonly field: 'schedule' | 'timezone';

  constructor(field: 'schedule' | 'timezone', message: string) {
    super(message);
    this.field = field;
  }
}

export interface Schedule {
  /** Returns the first slot after an instant, at a whole second; undefined when there is none in the next years. */
  nextAfter(instant: Date): Date | undefined;
}

/** Macros that Croner expands to fields. `@reboot` has no time. */
const MACROS = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);
const parsedSchedules = new Map<string, Schedule>();
const PARSED_MAX = 1000;

/**
 * Parses a schedule of five fields (minute, hour, day of month, month, day of week), of six with the seconds last, or a
 * macro like `@daily`, in a time zone (IANA name; UTC if absent).
 *
 * Schedules that name their hours mean the wall clock: a time that the change to summer time skips fires at the next
 * existing minute, and one that occurs twice fires only the first time. Schedules for every hour mean elapsed time:
 * they fire as often on the day of a change as on any other.
 *
 * @throws InvalidScheduleError
 */
export function parseSchedule(expression: string, timezone?: string | null): Schedule {
  const key = `${timezone ?? 'UTC'} ${expression}`;
  const known = parsedSchedules.get(key);
  if (known) return known;
  const schedule = parse(expression, timezone ?? 'UTC');
  if (parsedSchedules.size >= PARSED_MAX) parsedSchedules.clear();
  parsedSchedules.set(key, schedule);
  return schedule;
}

function parse(expression: string, timezone: string): Schedule {
  const localTime = parseTimezone(timezone);
  // Some programs replace `?` by the moment of their start; here it leaves a field open, like `*`.
  const fields = expression
    .trim()
    .split(/\s+/)
    .map((field) => (field === '?' ? '*' : field));
  const macro = fields.length === 1 ? fields[0]!.toLowerCase() : '';
  const isMacro = MACROS.has(macro);
  if (!isMacro && fields.length !== 5 && fields.length !== 6) {
    const needed = 'five fields are needed (minute hour day month weekday) or six (seconds last)';
    throw invalidScheduleError(expression, `${needed}, there ${describeCount(expression)}`);
  }
  const isHourly = isMacro ? macro === '@hourly' : fields[1] === '*';
  // Croner expects the seconds first.
  const text = isMacro ? macro : [...fields.slice(5), ...fields.slice(0, 5)].join(' ');
  try {
    if (isHourly) return elapsedTimeSchedule(new Cron(text, { mode: '5-or-6-parts', timezone }));
    return wallClockSchedule(new Cron(text, { mode: '5-or-6-parts', timezone: 'UTC' }), localTime);
  } catch (error) {
    throw invalidScheduleError(expression, (error as Error).message.replace(/^CronPattern: /, ''));
  }
}

function elapsedTimeSchedule(cron: Cron): Schedule {
  return { nextAfter: (instant) => cron.nextRun(instant) ?? undefined };
}

/** Makes a schedule of wall times. `cron` calculates with wall times as if they were UTC. */
function wallClockSchedule(cron: Cron, localTime: LocalTime): Schedule {
  return {
    nextAfter(instant) {
      const after = instant.getTime();
      // The search starts at this second of the wall clock, because in a doubled hour it shows an earlier time than
      // before.
      let wallTime: Date | null = new Date(localTime.wallTimeAt(after) - 1);
      for (;;) {
        wallTime = cron.nextRun(wallTime);
        if (!wallTime) return undefined;
        const slot = localTime.firstInstantOf(wallTime.getTime());
        if (slot > after) return new Date(slot);
      }
    },
  };
}

function parseTimezone(timezone: string): LocalTime {
  try {
    // Newer engines also accept offsets like +02:00, which have no daylight-saving rules.
    if (!/^[a-z]/i.test(timezone)) throw new RangeError('not a name');
    return new LocalTime(timezone);
  } catch {
    throw new InvalidScheduleError(
      'timezone',
      `Invalid timezone: '${timezone}'. Must be an IANA name like 'America/New_York'.`,
    );
  }
}

function invalidScheduleError(expression: string, reason: string): InvalidScheduleError {
  return new InvalidScheduleError('schedule', `Invalid cron schedule: '${expression}'. Reason: ${reason}`);
}

function describeCount(expression: string): string {
  const count = expression.trim() === '' ? 0 : expression.trim().split(/\s+/).length;
  return count === 1 ? 'is 1' : `are ${count}`;
}
