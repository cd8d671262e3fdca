/** The id before every other id. */
export const BEFORE_ALL = '0-0';

/**
 * Ids within one millisecond end at 999, then the next millisecond is used, so that `ms × 1000 + n` identifies an event
 * by one number. The append script counts by the same rule.
 */
const LAST_IN_MS = 999;

export function compareIds(a: string, b: string): number {
  if (a === b) return 0;
  const [aMs, aSeq] = parts(a);
  const [bMs, bSeq] = parts(b);
  return aMs - bMs || aSeq - bSeq;
}

export function nextId(id: string): string {
  const [ms, seq] = parts(id);
  return seq >= LAST_IN_MS ? `${ms + 1}-0` : `${ms}-${seq + 1}`;
}

/** Smaller bare numbers are not milliseconds but event counts, which older servers used. */
const EARLIEST_MS = 1_000_000_000_000;

/**
 * Parses an id from a client: `<ms>-<seq>`, a bare `<ms>`, or one of the forms for "before all": `-1`, `-` and the
 * small bare numbers of older servers. Undefined for other texts.
 */
export function parseEventId(text: string): string | undefined {
  const given = text.trim();
  if (given === '-1' || given === '-') return BEFORE_ALL;
  const match = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(given);
  if (!match) return undefined;
  const ms = Number(match[1]);
  if (match[2] === undefined) return ms < EARLIEST_MS ? BEFORE_ALL : `${ms}-0`;
  return `${ms}-${Number(match[2])}`;
}

/** Returns the id as one number that increases with it. */
export function sequenceOf(id: string): number {
  const [ms, seq] = parts(id);
  return ms * 1000 + Math.min(seq, LAST_IN_MS);
}

/** Returns the id with this number. A number that no event can have had is before all of them. */
export function idOfSequence(sequence: number): string {
  const ms = Math.floor(sequence / 1000);
  return ms < EARLIEST_MS ? BEFORE_ALL : `${ms}-${sequence % 1000}`;
}

function parts(id: string): [number, number] {
  const dash = id.indexOf('-');
  return [Number(id.slice(0, dash)), Number(id.slice(dash + 1))];
}
