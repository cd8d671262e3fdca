/**
 * The wall clock of a time zone. A wall time is written as the milliseconds it would be in UTC, so that it can be
 * compared and calculated with; this class converts between wall times and instants.
 */
export class LocalTime {
  readonly #format: Intl.DateTimeFormat;

  /** @throws RangeError when there is no such time zone */
  constructor(timezone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** Returns the wall time at an instant, to the second. */
  wallTimeAt(instant: number): number {
    const parts: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(instant)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  }

  /**
   * Returns the instant at which the wall clock shows this time. Of two (clocks were put back) it is the first; of none
   * (clocks were put forward) the first instant after the gap.
   */
  firstInstantOf(wallTime: number): number {
    const before = this.#offsetAt(wallTime - DAY_MS);
    const after = this.#offsetAt(wallTime + DAY_MS);
    const candidates = [wallTime - before, wallTime - after].sort((a, b) => a - b);
    const shown = candidates.find((instant) => this.wallTimeAt(instant) === wallTime);
    return shown ?? this.#changeBetween(candidates[0]!, candidates[1]!);
  }

  #offsetAt(instant: number): number {
    return this.wallTimeAt(instant) - Math.floor(instant / 1000) * 1000;
  }

  /** Returns the first whole minute with the offset of the end. */
  #changeBetween(from: number, to: number): number {
    const offset = this.#offsetAt(to);
    let earlier = Math.floor(from / MINUTE_MS) - 1;
    let later = Math.ceil(to / MINUTE_MS);
    while (later - earlier > 1) {
      const middle = Math.floor((earlier + later) / 2);
      if (this.#offsetAt(middle * MINUTE_MS) === offset) later = middle;
      else earlier = middle;
    }
    return later * MINUTE_MS;
  }
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
