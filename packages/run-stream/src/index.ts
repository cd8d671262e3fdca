/**
 * The event streams of threads on Redis.
 *
 * One Redis Stream per thread holds the events of all its runs in one order; a run's stream is that, filtered. Ids are
 * `<ms>-<seq>`, strictly increasing per thread, and never go back. An append carries the epoch of the run's fence and is refused
 * once a newer one was seen. Readers get what is kept and then go on live, through one subscription per thread and process;
 * what cannot be told any more (expired, trimmed, Redis emptied) is told as a gap, never left out silently.
 *
 * Streams are delivery, not truth: results and state are in Postgres, and a failed append never fails a run.
 *
 * docs/decisions/0007-streams-per-thread.md says why it is built this way.
 */
export { appendEnd, type EndAppending } from './append-end.ts';
export { StaleEpochError, StreamUnavailableError } from './errors.ts';
export { BEFORE_ALL, compareIds, parseEventId, sequenceOf } from './event-id.ts';
export { RunStreams } from './run-streams.ts';
export type { RunStreamsOptions } from './run-streams-options.ts';
export { gapAfter } from './stream-gap.ts';
export * from './types.ts';
