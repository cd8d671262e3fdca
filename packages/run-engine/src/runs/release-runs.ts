import type pg from 'pg';
import { NEXT_EPOCH, type OwnedRun } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import type { ErrorInfo, ReleasedRun } from '../types.ts';
import { endRuns, interruptedEnding, rollBackRuns } from './end-runs.ts';

export interface RunRelease {
  run: OwnedRun;
  /** Why the attempt ended without a result, when that counts as a failure; null for a run handed back in good order. */
  failure: ErrorInfo | null;
}

const NOTHING_REACHED = { values: null, interrupts: null, checkpointId: null };

/**
 * Takes running runs from their worker in the caller's transaction: back to waiting, to be claimed again and to go on from
 * their last checkpoint. One that was cancelled meanwhile ends as its order says; one that failed too often ends in `error`.
 * The runs are locked (`lockOwnedRuns`), their thread rows before them.
 */
export async function releaseRuns(
  client: pg.ClientBase,
  releases: RunRelease[],
  options: { maxFailures: number },
  events: RunEvents,
): Promise<Map<string, ReleasedRun>> {
  const waiting: RunRelease[] = [];
  const interrupted: OwnedRun[] = [];
  const rolledBack: OwnedRun[] = [];
  const exhausted: { run: OwnedRun; error: ErrorInfo }[] = [];
  for (const release of releases) {
    const { run, failure } = release;
    if (run.cancelAction === 'rollback') rolledBack.push(run);
    else if (run.cancelAction === 'interrupt') interrupted.push(run);
    else if (failure && run.failures + 1 >= options.maxFailures) {
      exhausted.push({ run, error: exhaustion(run, failure) });
    } else waiting.push(release);
  }
  await endRuns(
    client,
    [
      ...interrupted.map((run) => interruptedEnding(run, NOTHING_REACHED)),
      ...exhausted.map(({ run, error }) => ({
        run,
        ...NOTHING_REACHED,
        status: 'error' as const,
        threadStatus: 'error' as const,
        error,
        threadError: error,
      })),
    ],
    events,
  );
  await rollBackRuns(client, rolledBack, events);
  await putBack(client, waiting);

  const results = new Map<string, ReleasedRun>();
  for (const { run } of waiting) results.set(run.runId, { outcome: 'pending' });
  for (const run of interrupted) {
    results.set(run.runId, { outcome: 'ended', status: 'interrupted', error: null, isRolledBack: false });
  }
  for (const run of rolledBack) {
    results.set(run.runId, { outcome: 'ended', status: 'interrupted', error: null, isRolledBack: true });
  }
  for (const { run, error } of exhausted) {
    results.set(run.runId, { outcome: 'ended', status: 'error', error, isRolledBack: false });
  }
  return results;
}

function exhaustion(run: OwnedRun, failure: ErrorInfo): ErrorInfo {
  const attempts = run.failures + 1;
  return {
    error: 'RunAttemptsExhausted',
    message: `The run was given up after ${attempts} failed ${attempts === 1 ? 'attempt' : 'attempts'}; the last: ${failure.error}: ${failure.message}`,
  };
}

async function putBack(client: pg.ClientBase, releases: RunRelease[]): Promise<void> {
  if (releases.length === 0) return;
  await client.query({
    name: 'engine_put_back_runs',
    text: `WITH i AS (
             SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) AS i (run_id, thread_id, failures)
           ), fences AS (
             UPDATE thread_fence f SET epoch = ${NEXT_EPOCH}, run_id = NULL FROM i WHERE f.thread_id = i.thread_id
           )
           UPDATE run r
           SET status = 'pending', worker_id = NULL, epoch = NULL, failures = r.failures + i.failures, updated_at = now()
           FROM i WHERE r.run_id = i.run_id`,
    values: [
      releases.map(({ run }) => run.runId),
      releases.map(({ run }) => run.threadId),
      releases.map(({ failure }) => (failure ? 1 : 0)),
    ],
  });
}
