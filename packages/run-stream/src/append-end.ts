import { StaleEpochError } from './errors.ts';
import type { RunStreams } from './run-streams.ts';
import type { AppendEvent, StreamFence } from './types.ts';

export interface EndAppending {
  streams: Pick<RunStreams, 'append'>;
  /** The epoch under which the thread's stream takes appends now; undefined when the thread is gone. */
  currentEpoch(threadId: string): Promise<bigint | undefined>;
}

/**
 * Appends the last events of something whose end is in Postgres: a run, or a state update. The thread's next run may have been
 * quicker to publish: the end is true all the same, so it is told under the newer epoch.
 */
export async function appendEnd(
  { streams, currentEpoch }: EndAppending,
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
