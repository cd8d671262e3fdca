import { BEFORE_ALL, idOfSequence, type RunStreams } from '@runyard/run-stream';
import { RunsOfThread, type RunsOfThreadSources } from '../streams/runs-of-thread.ts';
import { EventConverter } from './event-converter.ts';
import { type EventFilter, matchesFilter } from './event-filter.ts';
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

/** Yields the events of a thread, which need not exist yet, as they come, until the signal ends it. */
export async function* followEvents(
  { streams, watch, ends }: EventSources,
  { threadId, access, filter, since, signal }: FollowedThread,
): AsyncGenerator<ThreadEvent, void, undefined> {
  const runs = new RunsOfThread(threadId, { watch, ends });
  const converter = new EventConverter();
  const afterId = since === undefined ? BEFORE_ALL : idOfSequence(since);
  try {
    for await (const entry of streams.read(threadId, { afterId, signal })) {
      if (!(await access.admits(entry, signal)) || !runs.observe(entry)) continue;
      converter.graphName = access.graphName;
      for (const event of converter.convert(entry)) if (matchesFilter(filter, event)) yield event;
    }
  } finally {
    runs.unwatchAll();
  }
}
