import type { ThreadState } from '@runyard/contracts';
import { appendEnd, CONTROL_KINDS, type EndAppending, type StreamFence } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';

/**
 * Tells the streams of a thread, in whichever process they are open, that its state was written from outside a run. The update
 * itself is durable already; who misses this reads the state. It is kept for clients whose connection broke, no longer.
 */
export async function tellStateUpdate(
  appending: EndAppending,
  { fence, state }: { fence: StreamFence; state: ThreadState },
  logger: Logger,
): Promise<void> {
  const { threadId } = fence;
  const event = {
    // Stands for the run that there is none of: what belongs together is told apart by it.
    runId: String(state.checkpoint_id),
    attempt: 1,
    kind: CONTROL_KINDS.state,
    event: 'state_update',
    data: JSON.stringify({ state, thread_id: threadId }),
  };
  try {
    await appendEnd(appending, { fence, isResumable: false }, [event]);
  } catch (error) {
    logger.warn('a state update could not be announced', { threadId, error });
  }
}
