import type pg from 'pg';
import { NEXT_EPOCH, type OwnedRun } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import { resetThreadStatus } from '../threads/reset-thread-status.ts';
import { deleteCheckpointsOfRuns } from './delete-checkpoints.ts';
import { endRuns, type NextRuns } from './end-runs.ts';

/**
 * Rolls runs back: they and their checkpoints are deleted, and their threads are as before them. Needs the same locks
 * as `endRuns`. On the bus and to watchers they end as `interrupted`.
 *
 * Nobody waits for the rollback of long runs. Only a part of their checkpoints is deleted, and they stay in flight
 * without a worker, with their order, so that no other run of their threads begins. The next sweep continues; this
 * returns undefined then.
 */
export async function rollBackRuns(
  client: pg.ClientBase,
  runs: OwnedRun[],
  events: RunEvents,
): Promise<NextRuns | undefined> {
  if (runs.length === 0) return new Map();
  if (await deleteCheckpointsOfRuns(client, runs)) return endRolledBackRuns(client, runs, events);
  await leaveRollbackToSweep(client, runs);
  return undefined;
}

async function endRolledBackRuns(client: pg.ClientBase, runs: OwnedRun[], events: RunEvents): Promise<NextRuns> {
  const next = await endRuns(
    client,
    runs.map((run) => ({
      run,
      status: 'interrupted',
      threadStatus: 'idle',
      values: null,
      interrupts: null,
      checkpointId: null,
      error: null,
      threadError: { error: 'UserRollback', message: run.cancelReason ?? 'rollback requested' },
    })),
    events,
  );
  await client.query({
    name: 'engine_delete_runs',
    text: 'DELETE FROM run WHERE run_id = ANY($1::uuid[])',
    values: [runs.map((run) => run.runId)],
  });
  await resetThreadStatus(
    client,
    runs.filter((run) => run.keepsThread).map((run) => run.threadId),
  );
  return next;
}

/**
 * Takes the runs from their workers, which can write nothing more for them. A run that waits for another attempt is
 * treated like a running one.
 */
async function leaveRollbackToSweep(client: pg.ClientBase, runs: OwnedRun[]): Promise<void> {
  await client.query({
    name: 'engine_leave_rollbacks',
    text: `WITH fences AS (
             UPDATE thread_fence f SET epoch = ${NEXT_EPOCH}, run_id = i.run_id
             FROM unnest($1::uuid[], $2::uuid[]) AS i (run_id, thread_id) WHERE f.thread_id = i.thread_id
             RETURNING f.run_id, f.epoch
           )
           UPDATE run r SET status = 'running', worker_id = NULL, epoch = fences.epoch, updated_at = now()
           FROM fences WHERE r.run_id = fences.run_id`,
    values: [runs.map((run) => run.runId), runs.map((run) => run.threadId)],
  });
}
