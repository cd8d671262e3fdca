import type { ReadOptions, RunStreams, StreamEntry } from '@runyard/run-stream';

/** Ends a reading once everything that is there was read. */
const AT_ONCE = AbortSignal.abort();

/** Yields what is kept of a thread's stream now. A gap at its end says that it cannot be read. */
export function readKept(
  streams: Pick<RunStreams, 'read'>,
  threadId: string,
  options: Omit<ReadOptions, 'drainSignal'>,
): AsyncGenerator<StreamEntry, void, undefined> {
  return streams.read(threadId, { ...options, drainSignal: AT_ONCE });
}
