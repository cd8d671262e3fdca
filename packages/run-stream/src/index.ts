/**
 * The event streams of threads on Redis.
 *
 * One Redis Stream per thread has the events of all its runs in one order; a run's stream is that, filtered. Ids are
 * `<ms>-<seq>`, strictly increasing per thread, and never decrease. An append carries the epoch of the run's fence and
 * is refused once a newer one was seen. Readers get the stored events and then go on live, through one subscription per
 * thread and process. Events that are not available any more (expired, trimmed, Redis emptied) are reported as a gap,
 * never left out silently.
 *
 * Streams deliver events and are not the source of truth: results and state are in Postgres, and a failed append never
 * fails a run.
 *
 * docs/decisions/streams.md#0007 explains the design.
 */
export { type AppendEndOptions, appendEnd } from './append-end.ts';
export { StaleEpochError, StreamUnavailableError } from './errors.ts';
export { BEFORE_ALL, compareIds, idOfSequence, parseEventId, sequenceOf } from './event-id.ts';
export { RunStreams } from './run-streams.ts';
export type { RunStreamsOptions } from './run-streams-options.ts';
export { gapAfter } from './stream-gap.ts';
export * from './types.ts';
