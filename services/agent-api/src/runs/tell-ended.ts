import type { CancelledRun, DeletedRun, RunEngine, SweptRun } from '@runyard/run-engine';
import { appendEnd, CONTROL_KINDS, type RunStreams } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';

export interface EndTelling {
  engine: Pick<RunEngine, 'currentEpoch'>;
  streams: Pick<RunStreams, 'append' | 'publishCancel'>;
  logger: Logger;
}

/**
 * Notifies those concerned that runs were cancelled: their workers, and the watchers of a run that never started. The
 * cancel order is durable already; a lost message costs seconds.
 */
export async function tellCancelled(telling: EndTelling, cancelled: CancelledRun[]): Promise<void> {
  await allTold(
    telling,
    cancelled.map(async (run) => {
      const { runId, threadId, outcome } = run;
      if (outcome === 'ordered') return telling.streams.publishCancel({ runId, threadId });
      await tellEnd(telling, run);
    }),
  );
}

/** Notifies watchers of deleted runs, in every process, and their workers, which have lost the right to write. */
export async function tellDeleted(telling: EndTelling, runs: DeletedRun[]): Promise<void> {
  await allTold(
    telling,
    runs.flatMap((run) => [
      tellEnd(telling, run),
      telling.streams.publishCancel({ runId: run.runId, threadId: run.fence.threadId }),
    ]),
  );
}

/** Notifies watchers of runs that ended by a cancel order while no worker executed them. */
export async function tellEnded(telling: EndTelling, runs: SweptRun[]): Promise<void> {
  await allTold(
    telling,
    runs.map((run) => tellEnd(telling, run)),
  );
}

async function tellEnd({ engine, streams }: EndTelling, { runId, attempt, fence }: DeletedRun): Promise<void> {
  const end = { runId, attempt, kind: CONTROL_KINDS.end, event: 'end', data: '{"status":"interrupted"}' };
  const currentEpoch = (threadId: string) => engine.currentEpoch(threadId);
  await appendEnd({ streams, currentEpoch }, { fence, isResumable: false }, [end]);
}

async function allTold({ logger }: EndTelling, telling: Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(telling)) {
    if (result.status === 'rejected') logger.warn('the end of a run could not be announced', { error: result.reason });
  }
}
