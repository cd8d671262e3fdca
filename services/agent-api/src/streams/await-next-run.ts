import { CONTROL_KINDS, type RunStreams } from '@runyard/run-stream';
import type { RunWatch } from './run-watch.ts';

export interface NextRunSources {
  streams: Pick<RunStreams, 'read'>;
  watch: Pick<RunWatch, 'watch'>;
}

/** The further course of a run that asked: another run, an end without one, or nothing yet. */
export type NextRun = { runId: string } | 'ended' | undefined;

const FOUND = new Error('The next run is known.');
/** The position of the oldest entry. */
const FIRST = '-1';

/**
 * Waits for the run that answers a question, by whichever process takes the answer; undefined when the signal came
 * first. Any other entry of the thread's stream is a reason to `look`, and so is each round of the watch: the stream
 * may have lost something.
 */
export async function awaitNextRun(
  { streams, watch }: NextRunSources,
  asking: { threadId: string; runId: string; afterId: string | undefined },
  { look, signal }: { look: () => Promise<NextRun>; signal: AbortSignal },
): Promise<NextRun> {
  const found = new AbortController();
  let next: NextRun;
  const settle = (result: NextRun) => {
    next ??= result;
    if (next !== undefined) found.abort(FOUND);
  };
  // A look that fails is repeated.
  const unwatch = watch.watch(asking.runId, () => void look().then(settle, () => undefined));
  const passed = new Set<string>();
  try {
    const stop = AbortSignal.any([signal, found.signal]);
    const { threadId, afterId = FIRST } = asking;
    for await (const { runId, kind } of streams.read(threadId, { afterId, signal: stop })) {
      // The rest of the run itself says nothing new, but for the end of the whole task behind its own.
      if (passed.has(runId) && kind !== CONTROL_KINDS.end) continue;
      passed.add(runId);
      settle(await look());
      if (next !== undefined) break;
    }
  } finally {
    unwatch();
  }
  return next;
}
