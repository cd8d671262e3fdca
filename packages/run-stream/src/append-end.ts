import { StaleEpochError } from './errors.ts';
import type { RunStreams } from './run-streams.ts';
import type { AppendEvent, StreamFence } from './types.ts';

export interface AppendEndOptions {
  streams: Pick<RunStreams, 'append'>;
  /** Returns the epoch under which the thread's stream accepts appends now; undefined for a deleted thread. */
  currentEpoch(threadId: string): Promise<bigint | undefined>;
}

/**
 * Appends the last events of a run or a state update whose end is in Postgres. The thread's next run may have published
 * already: the end is still true, so it is published under the newer epoch.
 */
export async function appendEnd(
  { streams, currentEpoch }: AppendEndOptions,
  { fence, isResumable }: { fence: StreamFence; isResumable: boolean },
  events: AppendEvent[],
): Promise<string[]> {
  const options = { resumable: isResumable, endsRun: true };
  try {
    return await streams.append(fence, events, options);
  } catch (error) {
    if (!(error instanceof StaleEpochError)) throw error;
    const epoch = await currentEpoch(fence.threadId);
    return epoch === undefined ? [] : streams.append({ threadId: fence.threadId, epoch }, events, options);
  }
}
