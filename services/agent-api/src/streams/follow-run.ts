import { CONTROL_KINDS, type RunStreams, type StreamEntry } from '@runyard/run-stream';
import type { RunWatch } from './run-watch.ts';

export interface FollowRun {
  streams: Pick<RunStreams, 'read'>;
  watch: RunWatch;
  threadId: string;
  runId: string;
  /** As in `ReadOptions`; left out: from the run's first entry. */
  afterId?: string | undefined;
  /** The run was over before the reading began: what is kept of it is all there will be. */
  isOver?: boolean;
  /** Ends the following. */
  signal: AbortSignal;
}

/** A run that is over is read out after this long without another entry: what it wrote is in the stream by then. */
const DRAIN_MS = 500;
/** One object for all: an error made for each run would carry a stack nobody reads. */
const ENDED = new Error('The following has ended.');
const OVER = new Error('The run is over.');

/**
 * A run's entries as they come, up to and with its `run.end`. Ends without one when the run turns out to be over, and nothing
 * more arrives or is found in the stream; what cannot be read out then is told as a gap. A reader that is slow is never cut short: time only counts while it waits for us.
 */
export async function* followRun(options: FollowRun): AsyncGenerator<StreamEntry, void, undefined> {
  const { streams, watch, threadId, runId, afterId } = options;
  const ending = new AbortController();
  const over = new AbortController();
  const end = () => ending.abort(ENDED);
  options.signal.addEventListener('abort', end, { once: true });
  if (options.signal.aborted) end();

  let isOver = options.isOver ?? false;
  let isWaiting = false;
  let drain: NodeJS.Timeout | undefined;
  const drainIfOver = () => {
    if (isOver && isWaiting) drain ??= setTimeout(() => over.abort(OVER), DRAIN_MS);
  };
  const unwatch = watch.watch(runId, () => {
    isOver = true;
    drainIfOver();
  });
  const entries = streams.read(threadId, { runId, afterId, signal: ending.signal, over: over.signal });
  try {
    for (;;) {
      isWaiting = true;
      drainIfOver();
      const next = await entries.next();
      isWaiting = false;
      clearTimeout(drain);
      drain = undefined;
      if (next.done) return;
      yield next.value;
      if (next.value.kind === CONTROL_KINDS.end) return;
    }
  } finally {
    clearTimeout(drain);
    unwatch();
    end();
    options.signal.removeEventListener('abort', end);
    await entries.return();
  }
}
