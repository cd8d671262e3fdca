import { type BoundOperation, InvalidFieldError } from '@runyard/service-kit';
import { sqlState } from './sql-errors.ts';

/** SQLSTATEs of text that Postgres cannot keep: U+0000 in a text, and its escape or half a surrogate pair in JSON. */
const STATES: ReadonlySet<string | undefined> = new Set(['22021', '22P05']);

/** Middleware that maps text which cannot be stored to a 422, for operations whose contracts do not exclude it. */
export function refuseUnstorableText({ operation, handler }: BoundOperation): BoundOperation {
  return {
    operation,
    handler: (request) =>
      handler(request).catch((error: unknown) => {
        if (!STATES.has(sqlState(error))) throw error;
        throw new InvalidFieldError(['body'], 'It contains a character that cannot be stored, such as U+0000.');
      }),
  };
}
