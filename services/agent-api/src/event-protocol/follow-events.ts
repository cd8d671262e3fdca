import {
  BEFORE_ALL,
  CONTROL_KINDS,
  compareIds,
  idOfSequence,
  type RunStreams,
  type StreamGap,
} from '@runyard/run-stream';
import { RunsOfThread, type RunsOfThreadSources } from '../streams/runs-of-thread.ts';
import { EventConverter } from './event-converter.ts';
import { type EventFilter, matchesFilter } from './event-filter.ts';
import { readKept } from './read-kept.ts';
import type { ThreadAccess } from './thread-access.ts';
import type { ThreadEvent } from './thread-event.ts';

export interface EventSources extends RunsOfThreadSources {
  streams: Pick<RunStreams, 'read'>;
}

export interface FollowedThread {
  threadId: string;
  access: ThreadAccess;
  filter: EventFilter;
  /** The number of the last event that the client has; left out for everything that is kept. */
  since?: number | undefined;
  signal: AbortSignal;
}

/**
 * Yields the events of a thread, which need not exist yet, as they come, until the signal ends it. What an event says
 * may depend on the run's earlier ones: a client that goes on in the middle gets what it would have got had it stayed.
 */
export async function* followEvents(
  { streams, watch, ends }: EventSources,
  { threadId, access, filter, since, signal }: FollowedThread,
): AsyncGenerator<ThreadEvent, void, undefined> {
  const runs = new RunsOfThread(threadId, { watch, ends });
  const converter = new EventConverter();
  const afterId = since === undefined ? BEFORE_ALL : idOfSequence(since);
  try {
    if (afterId !== BEFORE_ALL) {
      for (const event of await convertUpTo(afterId, { streams, threadId, access, runs, converter, signal })) {
        if (matchesFilter(filter, event)) yield event;
      }
    }
    for await (const entry of streams.read(threadId, { afterId, signal })) {
      if (!(await access.admits(entry, signal)) || !runs.observe(entry)) continue;
      converter.graphName = access.graphName;
      for (const event of converter.convert(entry)) if (matchesFilter(filter, event)) yield event;
    }
  } finally {
    runs.unwatchAll();
  }
}

/** Returns how many events a subscription gets at once, because they are kept. */
export async function countKeptEvents(
  { streams, watch, ends }: EventSources,
  { threadId, access, filter, since, signal }: FollowedThread,
): Promise<number> {
  const runs = new RunsOfThread(threadId, { watch, ends });
  const converter = new EventConverter();
  const afterId = since === undefined ? BEFORE_ALL : idOfSequence(since);
  let count = 0;
  try {
    for await (const entry of readKept(streams, threadId, { afterId: BEFORE_ALL, signal })) {
      const isDue = compareIds(entry.id, afterId) > 0;
      if ((isDue && !(await access.admits(entry, signal))) || !runs.observe(entry)) continue;
      const events = converter.convert(entry);
      if (isDue) count += events.filter((event) => matchesFilter(filter, event)).length;
    }
  } finally {
    runs.unwatchAll();
  }
  return count;
}

/**
 * Converts what is kept up to the place where the client goes on. Returns the events that share the number of that place
 * beside the first one: the client may have left between them.
 */
async function convertUpTo(
  afterId: string,
  followed: {
    streams: EventSources['streams'];
    threadId: string;
    access: ThreadAccess;
    runs: RunsOfThread;
    converter: EventConverter;
    signal: AbortSignal;
  },
): Promise<ThreadEvent[]> {
  const { streams, threadId, access, runs, converter, signal } = followed;
  let lastId = BEFORE_ALL;
  while (!signal.aborted) {
    let isWhole = true;
    for await (const entry of readKept(streams, threadId, { afterId: lastId, signal })) {
      const isAgain = compareIds(entry.id, lastId) <= 0;
      // Redis did not answer: nobody knows yet what there is.
      if (isAgain && entry.kind === CONTROL_KINDS.gap)
        isWhole = (JSON.parse(entry.data) as StreamGap).reason !== 'lost';
      if (isAgain) continue;
      if (compareIds(entry.id, afterId) > 0) return [];
      lastId = entry.id;
      if (!runs.observe(entry)) continue;
      const isPlace = compareIds(entry.id, afterId) === 0;
      if (isPlace && !(await access.admits(entry, signal))) continue;
      const events = converter.convert(entry);
      if (isPlace) return events.slice(1);
    }
    if (isWhole) break;
  }
  return [];
}
