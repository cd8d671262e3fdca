import {
  BEFORE_ALL,
  CONTROL_KINDS,
  gapAfter,
  parseEventId,
  type RunStreams,
  type StreamEntry,
} from '@runyard/run-stream';
import type { EndEvent, FoundEnd, MissingEnds } from './missing-ends.ts';
import type { RunWatch } from './run-watch.ts';

export interface FollowRunOptions {
  streams: Pick<RunStreams, 'read'>;
  watch: RunWatch;
  ends: Pick<MissingEnds, 'findOrPublish'>;
  threadId: string;
  runId: string;
  /** The position, as in `ReadOptions`; left out to read from the run's first entry. */
  afterId?: string | undefined;
  /** True when the run had ended before the reading began: nothing will be added to its stream. */
  isEnded?: boolean;
  /** Ends the reading. */
  signal: AbortSignal;
}

/**
 * An entry of the run's stream, or one in place of what the stream lacks: that has no id, and nothing comes after it.
 */
export interface FollowedEntry extends Omit<StreamEntry, 'id'> {
  id: string | undefined;
}

/** Milliseconds without another entry after which the end of an ended run counts as missing and is looked for. */
const DRAIN_MS = 500;
/** Shared by all runs: an error made for each would carry a stack nobody reads. */
const READER_STOPPED = new Error('The reader has stopped.');
const RUN_ENDED = new Error('The run has ended.');

/**
 * Yields a run's entries as they come, up to and including its `run.end`. When the run has ended and its end event does
 * not arrive, the end is looked for: it then comes from the stream or, when that cannot be read, as a gap and what
 * Postgres knows of the end. A reader that came after the end may get none. A slow reader is never cut short: time
 * counts only while it waits for us.
 */
export async function* followRun(options: FollowRunOptions): AsyncGenerator<FollowedEntry, void, undefined> {
  const { streams, watch, ends, threadId, runId, afterId } = options;
  const ending = new AbortController();
  const over = new AbortController();
  const end = () => ending.abort(READER_STOPPED);
  options.signal.addEventListener('abort', end, { once: true });
  if (options.signal.aborted) end();

  const hadEnded = options.isEnded ?? false;
  let isEnded = hadEnded;
  let isWaiting = false;
  let drain: NodeJS.Timeout | undefined;
  const search: { found?: Promise<FoundEnd> } = {};
  const lookForEnd = () => {
    search.found = ends.findOrPublish({ threadId, runId }, { hadEnded }).finally(() => over.abort(RUN_ENDED));
  };
  const drainIfEnded = () => {
    if (isEnded && isWaiting && !search.found) drain ??= setTimeout(lookForEnd, DRAIN_MS);
  };
  const unwatch = watch.watch(runId, () => {
    isEnded = true;
    drainIfEnded();
  });
  const entries = streams.read(threadId, { runId, afterId, signal: ending.signal, drainSignal: over.signal });
  let last: StreamEntry | undefined;
  try {
    for (;;) {
      isWaiting = true;
      drainIfEnded();
      const next = await entries.next();
      isWaiting = false;
      clearTimeout(drain);
      drain = undefined;
      if (next.done) break;
      last = next.value;
      yield last;
      if (last.kind === CONTROL_KINDS.end) return;
    }
    if (!search.found || options.signal.aborted) return;
    const about = { id: undefined, runId, attempt: last?.attempt ?? 1, isResumable: last?.isResumable ?? false };
    const after = last?.id ?? parseEventId(afterId ?? '') ?? BEFORE_ALL;
    const isInGap = last?.kind === CONTROL_KINDS.gap;
    for (const event of missingEvents(await search.found, { hadEnded, isInGap, after })) yield { ...about, ...event };
  } finally {
    clearTimeout(drain);
    unwatch();
    end();
    options.signal.removeEventListener('abort', end);
    await entries.return();
  }
}

/** Returns the events of an end that the stream lacks. `isInGap` says that the last entry was a gap. */
function missingEvents(
  { isPublished, events }: FoundEnd,
  { hadEnded, isInGap, after }: { hadEnded: boolean; isInGap: boolean; after: string },
): EndEvent[] {
  // The reader came after the end, or has it already.
  if (isPublished && (hadEnded || !isInGap)) return [];
  return isInGap ? events : [gapAfter(after, 'lost'), ...events];
}
