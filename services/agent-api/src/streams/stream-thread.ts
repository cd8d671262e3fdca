import type { ServerResponse } from 'node:http';
import { BEFORE_ALL, CONTROL_KINDS, compareIds, type RunStreams, type StreamEntry } from '@runyard/run-stream';
import { LiveResponse } from './live-response.ts';
import type { OpenResponses } from './open-responses.ts';
import type { RunWatch } from './run-watch.ts';
import { SSE_HEADERS, SSE_HEARTBEAT } from './sse-format.ts';
import { FROM_NOW_ON, restOf } from './stream-run.ts';
import { renderThreadEntry } from './thread-events.ts';

export interface ThreadStreamSources {
  streams: Pick<RunStreams, 'read' | 'newestId'>;
  /** Looks whether threads are still there. */
  threadWatch: RunWatch;
  /** Looks whether runs are over whose end was not told. */
  watch: RunWatch;
  open: OpenResponses;
}

export interface StreamedThread {
  threadId: string;
  /** The event the client has last; left out: it wants what comes from now on. */
  afterId: string | undefined;
  modes: ReadonlySet<string>;
  /** Path and query at which somebody who takes the stream over finds the rest; undefined when nobody does. */
  restPath?: string | undefined;
}

/**
 * Sends a thread's events, whichever runs they are of, until the client leaves or the thread is gone. Where the stream stands
 * is asked before the headers go out: a run that a client starts once it has them is never missed.
 *
 * A client that goes on after an event gets everything that is kept. One that asks for all there is gets resumable runs alone:
 * what remains of others is there for those who followed them.
 */
export async function streamThread(
  { streams, threadWatch, watch, open }: ThreadStreamSources,
  { threadId, afterId, modes, restPath }: StreamedThread,
  res: ServerResponse,
): Promise<void> {
  const newest = await streams.newestId(threadId).catch(() => undefined);
  const response = new LiveResponse(
    res,
    { location: `/threads/${threadId}/stream`, ...SSE_HEADERS },
    { signOfLife: SSE_HEARTBEAT },
  );
  let position = afterId ?? newest ?? FROM_NOW_ON;
  open.add(response, { isResumable: true, rest: () => restOf(restPath, position) });
  const ending = new AbortController();
  const end = () => ending.abort();
  response.closed.addEventListener('abort', end, { once: true });
  if (response.closed.aborted) end();
  const unwatch = threadWatch.watch(threadId, end);
  const underWay = new RunsUnderWay(watch);
  try {
    for await (const entry of streams.read(threadId, { afterId: position, signal: ending.signal })) {
      position = entry.id;
      underWay.hear(entry);
      const isOld = afterId === BEFORE_ALL && newest !== undefined && compareIds(entry.id, newest) <= 0;
      if (isOld && !entry.isResumable) continue;
      const text = renderThreadEntry(entry, modes);
      const caughtUp = text === undefined ? undefined : response.write(text);
      if (caughtUp) await caughtUp;
    }
  } finally {
    unwatch();
    underWay.leaveAll();
    response.end();
  }
}

/** The runs that a thread's stream told the beginning of, and not the end; of one thread at one time that is seldom more than one. */
class RunsUnderWay {
  readonly #watch: RunWatch;
  readonly #unwatch = new Map<string, () => void>();

  constructor(watch: RunWatch) {
    this.#watch = watch;
  }

  hear({ runId, kind }: StreamEntry): void {
    if (kind === CONTROL_KINDS.end) this.#leave(runId);
    else if (kind === 'metadata' && !this.#unwatch.has(runId)) {
      this.#unwatch.set(
        runId,
        this.#watch.watch(runId, () => undefined),
      );
    }
  }

  leaveAll(): void {
    for (const runId of [...this.#unwatch.keys()]) this.#leave(runId);
  }

  #leave(runId: string): void {
    this.#unwatch.get(runId)?.();
    this.#unwatch.delete(runId);
  }
}
