import { InvalidFieldError } from '@runyard/service-kit';

/** Postgres knows these years, and so do texts of ISO 8601 without a sign. */
const [EARLIEST, LATEST] = [Date.UTC(1970, 0, 1), Date.UTC(9999, 11, 31)];

/**
 * Reads a time of a request. A schema takes texts that are no time, as the second 60; times before 1970 are all the same.
 *
 * @throws InvalidFieldError
 */
export function readTime(text: string, field: string): Date {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidFieldError(['body', field], 'Not a time');
  return new Date(Math.min(Math.max(time, EARLIEST), LATEST));
}
