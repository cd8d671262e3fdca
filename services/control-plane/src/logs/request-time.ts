import { UnprocessableError } from '@runyard/service-kit';

/**
 * Milliseconds since 1970 of a date or a date with a time, as a request names it. Without a zone it is UTC, wherever this
 * process runs.
 *
 * @param location of the text in the request: `['query', 'start_time']`
 * @throws UnprocessableError for a time that does not exist
 */
export function parseRequestTime(text: string, location: string[]): number {
  const hasTime = /[t ]/i.test(text);
  const hasZone = /(z|[+-]\d\d(:?\d\d)?)$/i.test(text);
  const ms = Date.parse(hasTime ? `${text.replace(/[t ]/i, 'T')}${hasZone ? '' : 'Z'}` : text);
  if (Number.isNaN(ms)) throw faultyField(location, 'Value must be a date, or a date with a time');
  return ms;
}

/** The answer to a value that has the right form and cannot be meant. */
export function faultyField(loc: string[], msg: string): UnprocessableError {
  return new UnprocessableError(msg, { body: { detail: [{ loc, msg, type: 'value_error' }] } });
}
