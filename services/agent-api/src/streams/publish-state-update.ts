import type { ThreadState } from '@runyard/contracts';
import { type AppendEndOptions, appendEnd, CONTROL_KINDS, type StreamFence } from '@runyard/run-stream';
import { type Logger, toJsonBytes } from '@runyard/service-kit';

/**
 * Notifies the streams of a thread, in whichever process they are open, that its state was written from outside a run.
 * The update itself is durable already; a client that misses this reads the state. It is kept only for clients whose
 * connection broke.
 */
export async function publishStateUpdate(
  appending: AppendEndOptions,
  { fence, state }: { fence: StreamFence; state: ThreadState },
  logger: Logger,
): Promise<void> {
  const { threadId } = fence;
  const event = {
    // Takes the place of a run id, by which entries that belong together are recognized.
    runId: String(state.checkpoint_id),
    attempt: 1,
    kind: CONTROL_KINDS.state,
    event: 'state_update',
    data: toJsonBytes({ state, thread_id: threadId }).toString('utf8'),
  };
  try {
    await appendEnd(appending, { fence, isResumable: false }, [event]);
  } catch (error) {
    logger.warn('state update not published', { threadId, error });
  }
}
