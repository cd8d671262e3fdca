import type { RunEngine } from '@runyard/run-engine';
import type { RunWatch } from '../streams/run-watch.ts';
import type { RunLocation } from './run-locations.ts';
import { isEnded } from './run-result.ts';

/**
 * A run that its client follows from the start, whether this request created it or an earlier one with the same key.
 */
export interface FollowedRun extends RunLocation {
  isRepeated?: boolean;
}

export type CurrentRunState = {
  /** True when it had ended before this look. */
  isEnded: boolean;
  /** True when it was rolled back, deleted, or has expired. */
  isDeleted: boolean;
};

/** Returns the state of a run that may have begun, and ended, before this request came. */
export async function readCurrentState(
  { engine, watch }: { engine: Pick<RunEngine, 'getRun'>; watch: Pick<RunWatch, 'wake'> },
  run: FollowedRun,
): Promise<CurrentRunState> {
  if (!run.isRepeated) return { isEnded: false, isDeleted: false };
  const record = await engine.getRun(run.threadId, run.runId);
  if (!record) return { isEnded: true, isDeleted: true };
  if (!isEnded(record)) watch.wake();
  return { isEnded: isEnded(record), isDeleted: false };
}
