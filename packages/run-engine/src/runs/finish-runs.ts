import type pg from 'pg';
import { FencedError, ThreadHeldError } from '../errors.ts';
import { lockOwnedRuns, lockUnheldThreads, type OwnedRun } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import { endRuns, interruptedEnding, type RunEnding } from './end-runs.ts';
import { rollBackRuns } from './roll-back-runs.ts';
import type { EncodedFinish, FinishedRun } from './types.ts';

/**
 * Finishes runs, at most one per thread, in the caller's transaction. An item with a stale fence gets a `FencedError`,
 * and one whose thread another transaction has locked a `ThreadHeldError`: the others do not wait for it. A cancel
 * order that was durable before wins over the worker's report, so a cancelled run never ends as a success.
 */
export async function finishRuns(
  client: pg.ClientBase,
  batch: EncodedFinish[],
  events: RunEvents,
): Promise<(FinishedRun | Error)[]> {
  const threadIds = batch.map((item) => item.fence.threadId);
  const { held } = await lockUnheldThreads(client, threadIds);
  const owned = await lockOwnedRuns(
    client,
    threadIds.filter((threadId) => !held.has(threadId)),
  );

  const endings = new Map<EncodedFinish, RunEnding>();
  const rollbacks = new Map<EncodedFinish, OwnedRun>();
  for (const item of batch) {
    const run = owned.get(item.fence.threadId);
    if (!run || run.epoch !== item.fence.epoch || run.runId !== item.runId) continue;
    if (run.cancelAction === 'rollback') rollbacks.set(item, run);
    else endings.set(item, toRunEnding(run, item));
  }
  const next = await endRuns(client, [...endings.values()], events);
  const nextOfRolledBack = await rollBackRuns(client, [...rollbacks.values()], events);

  return batch.map((item) => {
    const ending = endings.get(item);
    if (ending) {
      const hasNextRun = next.get(item.fence.threadId) ?? false;
      const { status, error, run } = ending;
      const { cancelledForMs } = run;
      return { status, isRolledBack: false, isRollingBack: false, error, hasNextRun, cancelledForMs };
    }
    const { threadId, epoch } = item.fence;
    const rollback = rollbacks.get(item);
    if (rollback) {
      const hasNextRun = nextOfRolledBack?.get(threadId) ?? false;
      const { cancelledForMs } = rollback;
      const isRollingBack = nextOfRolledBack === undefined;
      return { status: 'interrupted', isRolledBack: true, isRollingBack, error: null, hasNextRun, cancelledForMs };
    }
    return held.has(threadId) ? new ThreadHeldError(threadId) : new FencedError(threadId, epoch);
  });
}

function toRunEnding(run: OwnedRun, item: EncodedFinish): RunEnding {
  const { values, interrupts, checkpointId, firstEventId } = item;
  if (run.cancelAction === 'interrupt') {
    return { ...interruptedEnding(run, { values, interrupts, checkpointId }), firstEventId };
  }
  const { status, threadStatus, error, needsAuth } = item;
  const state = { values, interrupts, checkpointId, needsAuth };
  return { run, status, threadStatus, ...state, error, threadError: error, firstEventId };
}
