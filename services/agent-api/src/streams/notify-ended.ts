import type { CancelledRun, DeletedRun, RunEngine, SweptRun } from '@runyard/run-engine';
import { appendEnd, CONTROL_KINDS, type RunStreams } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';

export interface RunEndParts {
  engine: Pick<RunEngine, 'currentEpoch'>;
  streams: Pick<RunStreams, 'append' | 'publishCancel'>;
  logger: Logger;
}

/**
 * Notifies those concerned that runs were cancelled: their workers, and the watchers of a run that never started. The
 * cancel order is durable already; a lost message costs seconds.
 */
export async function notifyCancelled(parts: RunEndParts, cancelled: CancelledRun[]): Promise<void> {
  await settleAll(
    parts,
    cancelled.map(async (run) => {
      const { runId, threadId, outcome } = run;
      if (outcome === 'ordered') return parts.streams.publishCancel({ runId, threadId });
      await publishEnd(parts, run);
    }),
  );
}

/** Notifies watchers of deleted runs, in every process, and their workers, which have lost the right to write. */
export async function notifyDeleted(parts: RunEndParts, runs: DeletedRun[]): Promise<void> {
  await settleAll(
    parts,
    runs.flatMap((run) => [
      publishEnd(parts, run),
      parts.streams.publishCancel({ runId: run.runId, threadId: run.fence.threadId }),
    ]),
  );
}

/** Notifies watchers of runs that ended by a cancel order while no worker executed them. */
export async function notifyEnded(parts: RunEndParts, runs: SweptRun[]): Promise<void> {
  await settleAll(
    parts,
    runs.map((run) => publishEnd(parts, run)),
  );
}

async function publishEnd({ engine, streams }: RunEndParts, { runId, attempt, fence }: DeletedRun): Promise<void> {
  const end = { runId, attempt, kind: CONTROL_KINDS.end, event: 'end', data: '{"status":"interrupted"}' };
  const currentEpoch = (threadId: string) => engine.currentEpoch(threadId);
  await appendEnd({ streams, currentEpoch }, { fence, isResumable: false }, [end]);
}

async function settleAll({ logger }: RunEndParts, notifications: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(notifications)) {
    if (result.status === 'rejected') logger.warn('end of a run not published', { error: result.reason });
  }
}
