import {
  BEFORE_ALL,
  CONTROL_KINDS,
  gapAfter,
  parseEventId,
  type RunStreams,
  type StreamEntry,
} from '@runyard/run-stream';
import type { FoundEnd, MissingEnds, TellingEvent } from './missing-ends.ts';
import type { RunWatch } from './run-watch.ts';

export interface FollowRun {
  streams: Pick<RunStreams, 'read'>;
  watch: RunWatch;
  ends: Pick<MissingEnds, 'tell'>;
  threadId: string;
  runId: string;
  /** As in `ReadOptions`; left out: from the run's first entry. */
  afterId?: string | undefined;
  /** The run was over before the reading began: what is kept of it is all there will be. */
  isOver?: boolean;
  /** Ends the following. */
  signal: AbortSignal;
}

/** An entry of the run's stream, or one in the place of what that does not tell: it has no id, and nothing comes after it. */
export interface FollowedEntry extends Omit<StreamEntry, 'id'> {
  id: string | undefined;
}

/** Of a run that is over something is missing after this long without another entry: it is looked for, and read out. */
const DRAIN_MS = 500;
/** One object for all: an error made for each run would carry a stack nobody reads. */
const ENDED = new Error('The following has ended.');
const OVER = new Error('The run is over.');

/**
 * A run's entries as they come, up to and with its `run.end`. When the run turns out to be over and its end does not arrive, that is
 * seen to: it comes out of the stream, or, when that cannot be read, as a gap and what Postgres knows of the end. Ends without an end
 * for a reader that came after it. A reader that is slow is never cut short: time only counts while it waits for us.
 */
export async function* followRun(options: FollowRun): AsyncGenerator<FollowedEntry, void, undefined> {
  const { streams, watch, ends, threadId, runId, afterId } = options;
  const ending = new AbortController();
  const over = new AbortController();
  const end = () => ending.abort(ENDED);
  options.signal.addEventListener('abort', end, { once: true });
  if (options.signal.aborted) end();

  const wasOver = options.isOver ?? false;
  let isOver = wasOver;
  let isWaiting = false;
  let drain: NodeJS.Timeout | undefined;
  const search: { found?: Promise<FoundEnd> } = {};
  const lookForEnd = () => {
    search.found = ends.tell({ threadId, runId }, { wasOver }).finally(() => over.abort(OVER));
  };
  const drainIfOver = () => {
    if (isOver && isWaiting && !search.found) drain ??= setTimeout(lookForEnd, DRAIN_MS);
  };
  const unwatch = watch.watch(runId, () => {
    isOver = true;
    drainIfOver();
  });
  const entries = streams.read(threadId, { runId, afterId, signal: ending.signal, over: over.signal });
  let last: StreamEntry | undefined;
  try {
    for (;;) {
      isWaiting = true;
      drainIfOver();
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
    for (const event of untold(await search.found, { wasOver, isInGap, after })) yield { ...about, ...event };
  } finally {
    clearTimeout(drain);
    unwatch();
    end();
    options.signal.removeEventListener('abort', end);
    await entries.return();
  }
}

/** What the stream does not say of an end. `isInGap`: the last it said is that something is missing. */
function untold(
  { isTold, events }: FoundEnd,
  { wasOver, isInGap, after }: { wasOver: boolean; isInGap: boolean; after: string },
): TellingEvent[] {
  // The reader came after the end, or has it already.
  if (isTold && (wasOver || !isInGap)) return [];
  return isInGap ? events : [gapAfter(after, 'lost'), ...events];
}
