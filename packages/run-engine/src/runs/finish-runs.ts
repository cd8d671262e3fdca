import type pg from 'pg';
import { FencedError } from '../errors.ts';
import { lockOwnedRuns, lockThreads, type OwnedRun } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import { endRuns, interruptedEnding, type RunEnding, rollBackRuns } from './end-runs.ts';
import type { FinishedRun, FinishRun } from './types.ts';

/**
 * Finishes runs, at most one per thread, in the caller's transaction. A stale fence answers its item with `FencedError`.
 * A cancel order that was durable before wins over what the worker reports, so a cancelled run never ends as a success.
 */
export async function finishRuns(
  client: pg.ClientBase,
  batch: FinishRun[],
  events: RunEvents,
): Promise<(FinishedRun | Error)[]> {
  const threadIds = batch.map((item) => item.fence.threadId);
  await lockThreads(client, threadIds);
  const owned = await lockOwnedRuns(client, threadIds);

  const endings = new Map<FinishRun, RunEnding>();
  const rollbacks = new Map<FinishRun, OwnedRun>();
  for (const item of batch) {
    const run = owned.get(item.fence.threadId);
    if (!run || run.epoch !== item.fence.epoch || run.runId !== item.runId) continue;
    if (run.cancelAction === 'rollback') rollbacks.set(item, run);
    else endings.set(item, endingOf(run, item));
  }
  const next = await endRuns(client, [...endings.values()], events);
  const nextOfRolledBack = await rollBackRuns(client, [...rollbacks.values()], events);

  return batch.map((item) => {
    const ending = endings.get(item);
    if (ending) {
      const hasNextRun = next.get(item.fence.threadId) ?? false;
      const { cancelledForMs } = ending.run;
      return { status: ending.status, isRolledBack: false, error: ending.error, hasNextRun, cancelledForMs };
    }
    const rollback = rollbacks.get(item);
    if (rollback) {
      const hasNextRun = nextOfRolledBack.get(item.fence.threadId) ?? false;
      const { cancelledForMs } = rollback;
      return { status: 'interrupted', isRolledBack: true, error: null, hasNextRun, cancelledForMs };
    }
    return new FencedError(item.fence.threadId, item.fence.epoch);
  });
}

function endingOf(run: OwnedRun, item: FinishRun): RunEnding {
  const { values, interrupts, checkpointId, firstEventId } = item;
  if (run.cancelAction === 'interrupt') {
    return { ...interruptedEnding(run, { values, interrupts, checkpointId }), firstEventId };
  }
  const { status, threadStatus, error } = item;
  return { run, status, threadStatus, values, interrupts, checkpointId, error, threadError: error, firstEventId };
}
