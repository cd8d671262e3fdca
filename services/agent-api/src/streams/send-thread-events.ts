import type { ServerResponse } from 'node:http';
import { BEFORE_ALL, CONTROL_KINDS, compareIds, type RunStreams, type StreamEntry } from '@runyard/run-stream';
import { LiveResponse } from './live-response.ts';
import type { MissingEnds } from './missing-ends.ts';
import type { OpenResponses } from './open-responses.ts';
import type { RunWatch } from './run-watch.ts';
import { continuationAt, FROM_NOW_ON } from './send-run-events.ts';
import { SSE_HEADERS, SSE_HEARTBEAT } from './sse-format.ts';
import { renderThreadEntry } from './thread-events.ts';

export interface ThreadStreamSources {
  streams: Pick<RunStreams, 'read' | 'newestId'>;
  /** Checks whether threads still exist. */
  threadWatch: RunWatch;
  /** Checks whether runs have ended whose end event did not come. */
  watch: RunWatch;
  /** Publishes the end event then. */
  ends: Pick<MissingEnds, 'findOrPublish'>;
  open: OpenResponses;
}

export interface ThreadEventsOptions {
  threadId: string;
  /** The last event that the client has; left out when it wants events from now on. */
  afterId: string | undefined;
  modes: ReadonlySet<string>;
  /** Path and query of the continuation; undefined when nobody takes the stream over. */
  continuationPath?: string | undefined;
}

/**
 * Sends the events of all runs of a thread until the client leaves or the thread is deleted. The stream's position is
 * read before the headers go out: a run that a client starts once it has them is never missed.
 *
 * A client that resumes after an event gets everything that is kept. One that asks for all there is gets resumable runs
 * alone, each with its end, whoever published that: entries of other runs are kept for those who followed them.
 */
export async function sendThreadEvents(
  { streams, threadWatch, watch, ends, open }: ThreadStreamSources,
  { threadId, afterId, modes, continuationPath }: ThreadEventsOptions,
  res: ServerResponse,
): Promise<void> {
  const newest = await streams.newestId(threadId).catch(() => undefined);
  const response = new LiveResponse(
    res,
    { location: `/threads/${threadId}/stream`, ...SSE_HEADERS },
    { heartbeat: SSE_HEARTBEAT },
  );
  let position = afterId ?? newest ?? FROM_NOW_ON;
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
      const isOld = afterId === BEFORE_ALL && newest !== undefined && compareIds(entry.id, newest) <= 0;
      if (isOld && entry.isResumable) replayed.add(entry.runId);
      if (isOld && !replayed.has(entry.runId)) continue;
      const text = renderThreadEntry(entry, modes);
      const caughtUp = text === undefined ? undefined : response.write(text);
      if (caughtUp) await caughtUp;
    }
  } finally {
    unwatch();
    runs.unwatchAll();
    response.end();
  }
}

/** Ended runs that one stream remembers. */
const MAX_ENDED = 1_000;

/**
 * Remembers what a thread's stream has sent of its runs, and watches those without an end. One thread seldom has more
 * than one.
 */
class RunsOfThread {
  readonly #threadId: string;
  readonly #sources: Pick<ThreadStreamSources, 'watch' | 'ends'>;
  readonly #unwatch = new Map<string, () => void>();
  readonly #ended = new Set<string>();

  constructor(threadId: string, sources: Pick<ThreadStreamSources, 'watch' | 'ends'>) {
    this.#threadId = threadId;
    this.#sources = sources;
  }

  /**
   * Returns false for entries of a run after its end: when Redis was emptied, nobody can know that the end was
   * published before.
   */
  observe({ runId, kind }: StreamEntry): boolean {
    // These belong to no run: a gap of the whole thread, and writes from outside a run.
    if (runId === '' || kind === CONTROL_KINDS.state) return true;
    if (this.#ended.has(runId)) return false;
    if (kind === CONTROL_KINDS.end) this.#end(runId);
    // A gap may stand where a finished run, or a write from outside a run, has lost something.
    else if (kind !== CONTROL_KINDS.gap && !this.#unwatch.has(runId)) {
      const unwatch = this.#sources.watch.watch(runId, () => void this.#publishMissingEnd(runId));
      this.#unwatch.set(runId, unwatch);
    }
    return true;
  }

  unwatchAll(): void {
    for (const runId of [...this.#unwatch.keys()]) this.#unwatchRun(runId);
  }

  async #publishMissingEnd(runId: string): Promise<void> {
    const { isPublished } = await this.#sources.ends.findOrPublish({ threadId: this.#threadId, runId });
    if (isPublished) this.#unwatchRun(runId);
  }

  #end(runId: string): void {
    this.#unwatchRun(runId);
    this.#ended.add(runId);
    if (this.#ended.size > MAX_ENDED) this.#ended.delete(this.#ended.values().next().value!);
  }

  #unwatchRun(runId: string): void {
    this.#unwatch.get(runId)?.();
    this.#unwatch.delete(runId);
  }
}
