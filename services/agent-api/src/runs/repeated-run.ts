import type { RunEngine } from '@runyard/run-engine';
import type { RunWatch } from '../streams/run-watch.ts';
import type { RunPlace } from './run-locations.ts';
import { isOver } from './run-result.ts';

/**
 * A run that its client follows from the start, whether this request created it or an earlier one with the same key.
 */
export interface FollowedRun extends RunPlace {
  isRepeated?: boolean;
}

export type RunNow = {
  /** True when it had ended before this look. */
  isOver: boolean;
  /** True when it was rolled back, deleted, or has expired. */
  isGone: boolean;
};

/** Returns the state of a run that may have begun, and ended, before this request came. */
export async function lookAgain(
  { engine, watch }: { engine: Pick<RunEngine, 'getRun'>; watch: Pick<RunWatch, 'checkSoon'> },
  run: FollowedRun,
): Promise<RunNow> {
  if (!run.isRepeated) return { isOver: false, isGone: false };
  const record = await engine.getRun(run.threadId, run.runId);
  if (!record) return { isOver: true, isGone: true };
  if (!isOver(record)) watch.checkSoon();
  return { isOver: isOver(record), isGone: false };
}
