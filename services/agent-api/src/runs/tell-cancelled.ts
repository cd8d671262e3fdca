import type { CancelledRun } from '@runyard/run-engine';
import { CONTROL_KINDS, type RunStreams } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';

/**
 * Tells those concerned that runs were cancelled: their workers, and for a run that never started whoever watches it. The
 * cancel itself is durable already; a message that is lost costs seconds.
 */
export async function tellCancelled(
  streams: Pick<RunStreams, 'append' | 'publishCancel'>,
  cancelled: CancelledRun[],
  log: Logger,
): Promise<void> {
  const told = cancelled.map(async ({ runId, threadId, attempt, outcome, fence }) => {
    if (outcome === 'ordered') return streams.publishCancel({ runId, threadId });
    const end = { runId, attempt, kind: CONTROL_KINDS.end, event: 'end', data: '{"status":"interrupted"}' };
    await streams.append(fence, [end], { resumable: false, endsRun: true });
  });
  for (const result of await Promise.allSettled(told)) {
    if (result.status === 'rejected') log.warn('a cancelled run could not be announced', { error: result.reason });
  }
}
