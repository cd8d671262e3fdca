import type { ServerResponse } from 'node:http';
import { BEFORE_ALL, compareIds, type RunStreams, type StreamEntry } from '@runyard/run-stream';
import { LiveResponse, SSE_HEADERS, SSE_HEARTBEAT } from '@runyard/service-kit';
import type { OpenResponses } from './open-responses.ts';
import type { RunWatch } from './run-watch.ts';
import { RunsOfThread, type RunsOfThreadSources } from './runs-of-thread.ts';
import { continuationAt } from './send-run-events.ts';
import { renderThreadEntry } from './thread-events.ts';

export interface ThreadStreamSources extends RunsOfThreadSources {
  streams: Pick<RunStreams, 'read' | 'newestId'>;
  /** Checks whether threads still exist. */
  threadWatch: RunWatch;
  open: OpenResponses;
}

export interface ThreadEventsOptions {
  threadId: string;
  /** The last event that the client has; left out when it wants events from now on. */
  afterId: string | undefined;
  modes: ReadonlySet<string>;
  /** Decides which entries the client may see. Default: all. */
  access?: { admits(entry: StreamEntry, signal: AbortSignal): Promise<boolean> } | undefined;
  /** Path and query of the continuation; undefined when nobody takes the stream over. */
  continuationPath?: string | undefined;
}

/**
 * Sends the events of all runs of a thread until the client leaves or the thread is deleted. The stream's position is
 * read before the headers go out: a run that a client starts once it has them is never missed. Throws
 * `StreamUnavailableError` before them when that position cannot be read.
 *
 * A client that resumes after an event gets everything that is kept. One that asks for all there is gets resumable runs
 * alone, each with its end, whoever published that: entries of other runs are kept for those who followed them.
 */
export async function sendThreadEvents(
  { streams, threadWatch, watch, ends, open }: ThreadStreamSources,
  { threadId, afterId, modes, access, continuationPath }: ThreadEventsOptions,
  res: ServerResponse,
): Promise<void> {
  const newest = await streams.newestId(threadId).catch((error: unknown) => {
    if (afterId === undefined) throw error;
    return BEFORE_ALL;
  });
  const response = new LiveResponse(
    res,
    { location: `/threads/${threadId}/stream`, ...SSE_HEADERS },
    { heartbeat: SSE_HEARTBEAT },
  );
  let position = startOf(afterId, newest);
  open.add(response, { isResumable: true, continuation: () => continuationAt(continuationPath, position) });
  const ending = new AbortController();
  const end = () => ending.abort();
  response.closed.addEventListener('abort', end, { once: true });
  if (response.closed.aborted) end();
  const unwatch = threadWatch.watch(threadId, end);
  const runs = new RunsOfThread(threadId, { watch, ends });
  const replayed = new Set<string>();
  try {
    for await (const entry of streams.read(threadId, { afterId: position, signal: ending.signal })) {
      position = entry.id;
      if (!runs.observe(entry)) continue;
      const isOld = afterId === BEFORE_ALL && compareIds(entry.id, newest) <= 0;
      if (isOld && entry.isResumable) replayed.add(entry.runId);
      if (isOld && !replayed.has(entry.runId)) continue;
      const text = renderThreadEntry(entry, modes);
      if (text === undefined || (access && !(await access.admits(entry, ending.signal)))) continue;
      const caughtUp = response.write(text);
      if (caughtUp) await caughtUp;
    }
  } finally {
    unwatch();
    runs.unwatchAll();
    response.end();
  }
}

/**
 * Returns the place where a client goes on. An id beyond the newest one was never issued: everything from now on comes
 * after it. A thread of which nothing is known any more does not tell which ids it issued.
 */
function startOf(afterId: string | undefined, newest: string): string {
  if (afterId === undefined) return newest;
  return newest !== BEFORE_ALL && compareIds(afterId, newest) > 0 ? newest : afterId;
}
