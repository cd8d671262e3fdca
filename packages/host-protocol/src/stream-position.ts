/**
 * Names a place in the events of a run as one number: the attempt, then the events that its graph had emitted. A later
 * place of the run has a larger number, in the same attempt and in every later one.
 */
export function streamPosition(attempt: number, events: number): number {
  return attempt * EVENTS_MAX + events;
}

/** Returns how many events of the position's own attempt come before it. */
export function eventsBefore(position: number): number {
  return position % EVENTS_MAX;
}

/** More than any attempt emits, and small enough for exact numbers over two million attempts. */
const EVENTS_MAX = 2 ** 32;
