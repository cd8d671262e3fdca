import type { CheckpointConfig, ThreadStateSearch } from '@runyard/contracts';
import { UnprocessableError } from '@runyard/service-kit';

/** A position in a thread's history: the newest of the root graph when both are left out. */
export interface CheckpointPosition {
  checkpointId?: string | undefined;
  checkpointNs?: string | undefined;
}

/**
 * Returns the checkpoint that a client names: by id, or by a map with the id of each namespace, as the graph's own
 * events carry it.
 * @throws UnprocessableError when it belongs to another thread
 */
export function checkpointPositionOf(
  threadId: string,
  checkpoint: CheckpointConfig | null | undefined,
): CheckpointPosition {
  requireOwnCheckpoint(threadId, checkpoint);
  const { checkpoint_ns, checkpoint_id, checkpoint_map } = checkpoint ?? {};
  const mapped = checkpoint_map?.[checkpoint_ns ?? ''];
  const checkpointId = checkpoint_id || (typeof mapped === 'string' ? mapped : undefined);
  return { ...(checkpointId && { checkpointId }), ...(checkpoint_ns && { checkpointNs: checkpoint_ns }) };
}

/** @throws UnprocessableError when the checkpoint belongs to another thread */
export function requireOwnCheckpoint(
  threadId: string,
  checkpoint: Pick<CheckpointConfig, 'thread_id'> | null | undefined,
): void {
  const thread_id = checkpoint?.thread_id;
  if (thread_id && thread_id.toLowerCase() !== threadId.toLowerCase()) {
    throw new UnprocessableError(`checkpoint.thread_id is ${thread_id}, the thread ${threadId}`);
  }
}

/** Reads `before`, which names a checkpoint by its id, flat, or the way LangGraph writes a config. */
export function positionBefore(threadId: string, before: ThreadStateSearch['before']): CheckpointPosition {
  if (before === null || before === undefined) return {};
  if (typeof before === 'string') return { checkpointId: before };
  return checkpointPositionOf(threadId, 'configurable' in before ? before.configurable : before);
}
