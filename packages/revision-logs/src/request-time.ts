import { InvalidFieldError } from '@runyard/service-kit';

const ZONE = /(?:z|[+-]\d\d(?::?\d\d)?)$/i;

/**
 * Parses a request's date or date with time to milliseconds since 1970. Without a zone it is UTC, whatever this
 * machine's zone is.
 *
 * @param location of the text in the request: `['query', 'start_time']`
 * @throws InvalidFieldError for a time that does not exist
 */
export function parseRequestTime(text: string, location: string[]): number {
  const hasTime = /[t ]/i.test(text);
  const zone = ZONE.exec(text)?.[0] ?? 'Z';
  // The parser requires minutes in the zone.
  const offset = /^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone;
  const ms = Date.parse(hasTime ? `${text.replace(ZONE, '').replace(/[t ]/i, 'T')}${offset}` : text);
  if (Number.isNaN(ms)) throw new InvalidFieldError(location, 'Value must be a date, or a date with a time');
  return ms;
}
