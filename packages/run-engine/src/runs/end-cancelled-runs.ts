import type pg from 'pg';
import type { OwnedRun } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import { endRuns, interruptedEnding } from './end-runs.ts';
import { rollBackRuns } from './roll-back-runs.ts';

const NOTHING_REACHED = { values: null, interrupts: null, checkpointId: null };

/**
 * Ends cancelled runs that no worker has: they wait for another attempt after one that was lost or released. The
 * checkpoints of earlier attempts stay (`interrupt`) or are deleted (`rollback`). Needs the same locks as `endRuns`;
 * accepts any number per thread. Returns the runs whose rollback takes longer.
 */
export async function endCancelledRuns(
  client: pg.ClientBase,
  runs: OwnedRun[],
  events: RunEvents,
): Promise<Set<OwnedRun>> {
  const rollingBack = new Set<OwnedRun>();
  for (let left = runs; left.length > 0; ) {
    const firsts = new Set(new Map(left.toReversed().map((run) => [run.threadId, run])).values());
    const round = [...firsts];
    const interrupted = round.filter(({ cancelAction }) => cancelAction !== 'rollback');
    await endRuns(
      client,
      interrupted.map((run) => interruptedEnding(run, NOTHING_REACHED)),
      events,
    );
    const rolledBack = round.filter(({ cancelAction }) => cancelAction === 'rollback');
    const next = await rollBackRuns(client, rolledBack, events);
    if (!next) for (const run of rolledBack) rollingBack.add(run);
    left = left.filter((run) => !firsts.has(run));
  }
  return rollingBack;
}
