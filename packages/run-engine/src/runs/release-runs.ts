import type pg from 'pg';
import { FencedError } from '../errors.ts';
import { lockOwnedRuns, lockThreads, NEXT_EPOCH, type OwnedRun } from '../locks.ts';
import { refreshHeads } from '../queue/thread-heads.ts';
import type { RetryReason, RunEvents } from '../run-events.ts';
import type { ErrorInfo, Fence } from '../types.ts';
import { endRuns, interruptedEnding } from './end-runs.ts';
import { keyRetryMs } from './key-waits.ts';
import { rollBackRuns } from './roll-back-runs.ts';
import type { ReleasedRun, RunRelease } from './types.ts';

/** A running run, and why it is taken from its worker. */
export interface OwnedRelease extends RunRelease {
  run: OwnedRun;
  /** True when the worker's lease has expired. */
  isLost?: boolean;
}

export interface ReleaseOptions {
  maxFailures: number;
  /** Attempts after which a run ends whatever ended them. */
  maxAttempts: number;
  /** How often a run may be handed back by workers that stop. */
  maxDrains: number;
  /** Milliseconds that a run waits after its first, second, … attempt that does not count as failed; then the last. */
  releaseDelaysMs: readonly number[];
  /** Milliseconds after which a run ends whose encryption key no worker has got. */
  keyWaitMs: number;
  /** Duration of a worker's lease without a renewal. */
  leaseMs: number;
}

/**
 * An error that is mistaken for an outage repeats at this pace, and not as fast as a worker can claim. The first
 * attempt is repeated at once: most often a worker stops in good order.
 */
export const RELEASE_DELAYS_MS = [0, 1_000, 2_000, 5_000, 10_000, 20_000, 40_000, 60_000];

const NOTHING_REACHED = { values: null, interrupts: null, checkpointId: null };

/**
 * Releases the run that the fence holds; locks thread and run. Throws FencedError when the fence holds none any more.
 */
export async function releaseRun(
  client: pg.ClientBase,
  { fence, release }: { fence: Fence; release: RunRelease },
  options: ReleaseOptions,
  events: RunEvents,
): Promise<ReleasedRun> {
  await lockThreads(client, [fence.threadId]);
  const run = (await lockOwnedRuns(client, [fence.threadId])).get(fence.threadId);
  if (!run || run.epoch !== fence.epoch) throw new FencedError(fence.threadId, fence.epoch);
  const released = await releaseRuns(client, [{ run, ...release }], options, events);
  return released.get(run.runId)!;
}

/**
 * Takes running runs from their worker in the caller's transaction: they wait to be claimed again, and go on from their
 * last checkpoint. A run that was cancelled meanwhile ends as its order says. A run whose attempts fail repeatedly
 * without progress ends in `error`, and so does one with too many attempts, whatever ended them, and one whose key is
 * missing for too long. The runs are locked (`lockOwnedRuns`), their thread rows before them.
 */
export async function releaseRuns(
  client: pg.ClientBase,
  releases: OwnedRelease[],
  options: ReleaseOptions,
  events: RunEvents,
): Promise<Map<string, ReleasedRun>> {
  const waiting: (OwnedRelease & { failures: number; drains: number })[] = [];
  const interrupted: OwnedRun[] = [];
  const rolledBack: OwnedRun[] = [];
  const exhausted: { run: OwnedRun; error: ErrorInfo }[] = [];
  const withProgress = await findRunsWithProgress(client, releases);
  for (const release of releases) {
    const { run, failure } = release;
    const failures = failure ? (withProgress.has(run.runId) ? 1 : run.failures + 1) : run.failures;
    const drains = run.drains + (release.isDrained ? 1 : 0);
    if (run.cancelAction === 'rollback') rolledBack.push(run);
    else if (run.cancelAction === 'interrupt') interrupted.push(run);
    else {
      const error = limitReached(release, { failures, drains }, options);
      if (error) exhausted.push({ run, error });
      else waiting.push({ delayMs: defaultDelayMs(release, options), ...release, failures, drains });
    }
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
  const isRolledBack = (await rollBackRuns(client, rolledBack, events)) !== undefined;
  await requeueRuns(client, waiting, options);
  await events.writeRetried(
    client,
    waiting.map((release) => ({ ...release.run, reason: retryReason(release) })),
  );

  const results = new Map<string, ReleasedRun>();
  for (const { run } of waiting) results.set(run.runId, { outcome: 'pending' });
  const recordEnd = ({ runId, cancelledForMs }: OwnedRun, isRunDeleted: boolean, error: ErrorInfo | null = null) => {
    const status = error ? 'error' : 'interrupted';
    results.set(runId, { outcome: 'ended', status, error, isRolledBack: isRunDeleted, cancelledForMs });
  };
  for (const run of interrupted) recordEnd(run, false);
  for (const run of rolledBack) {
    if (isRolledBack) recordEnd(run, true);
    else results.set(run.runId, { outcome: 'rollingBack' });
  }
  for (const { run, error } of exhausted) recordEnd(run, false, error);
  return results;
}

function retryReason({ isLost, failure, isQuarantined }: OwnedRelease): RetryReason {
  if (isLost) return 'worker_lost';
  return failure || isQuarantined ? 'failed' : 'handed_over';
}

/** Returns the error of a run that has no further attempt. */
function limitReached(
  release: OwnedRelease,
  { failures, drains }: { failures: number; drains: number },
  options: ReleaseOptions,
): ErrorInfo | undefined {
  const { run, failure, cause, awaitsKey, isDrained } = release;
  if (failure && failures >= options.maxFailures) return toExhaustedError(failures, failure);
  if (isDrained && drains > options.maxDrains) return toDrainedError(drains);
  if (awaitsKey && (run.keyMissingForMs ?? 0) >= options.keyWaitMs) return toMissingKeyError(options.keyWaitMs, cause);
  if (awaitsKey === 'beforeExecution' || run.attempt < options.maxAttempts) return undefined;
  return toLimitError(run.attempt, failure ?? cause);
}

function toExhaustedError(failures: number, failure: ErrorInfo): ErrorInfo {
  return {
    error: 'RunAttemptsExhausted',
    message: `The run was given up after ${failures} failed ${failures === 1 ? 'attempt' : 'attempts'}; the last: ${failure.error}: ${failure.message}`,
  };
}

function toDrainedError(drains: number): ErrorInfo {
  return {
    error: 'RunDrainLimitReached',
    message: `The run was given up after its workers stopped ${drains} times. Deploy less often, or set BG_JOB_MAX_DRAINS.`,
  };
}

function toLimitError(attempts: number, last: ErrorInfo | undefined): ErrorInfo {
  const ending = last ? `; the last ended with ${last.error}: ${last.message}` : '.';
  return { error: 'RunAttemptLimitReached', message: `The run was given up after ${attempts} attempts${ending}` };
}

function toMissingKeyError(keyWaitMs: number, last: ErrorInfo | undefined): ErrorInfo {
  const hours = Math.round(keyWaitMs / 360_000) / 10;
  return {
    error: 'EncryptionKeyUnavailable',
    message: `No worker got the encryption key of the run within ${hours} hours${last ? `: ${last.message}` : '.'}`,
  };
}

function defaultDelayMs({ run, failure, awaitsKey }: OwnedRelease, { releaseDelaysMs }: ReleaseOptions): number {
  if (awaitsKey) return keyRetryMs(awaitsKey, run.keyMissingForMs ?? 0);
  if (failure) return 0;
  return releaseDelaysMs[Math.min(run.attempt, releaseDelaysMs.length) - 1] ?? 0;
}

/**
 * Returns the runs whose next attempt goes on further than this one began: this attempt stored a checkpoint, and the
 * run has one at the root of its graph. Without that the next attempt begins again, whatever subgraphs with a memory of
 * their own have stored: with durability `exit`, a root checkpoint is stored only when the graph stops.
 */
async function findRunsWithProgress(client: pg.ClientBase, releases: OwnedRelease[]): Promise<Set<string>> {
  const repeated = releases.filter(({ run, failure }) => failure && run.failures > 0).map(({ run }) => run.runId);
  if (repeated.length === 0) return new Set();
  const { rows } = await client.query<{ run_id: string }>({
    name: 'engine_runs_with_progress',
    text: `SELECT run_id FROM run r WHERE run_id = ANY($1::uuid[]) AND EXISTS (
             SELECT 1 FROM checkpoint c WHERE c.run_id = r.run_id AND c.created_at > r.started_at)
           AND EXISTS (SELECT 1 FROM checkpoint c WHERE c.run_id = r.run_id AND c.checkpoint_ns = '')`,
    values: [repeated],
  });
  return new Set(rows.map((row) => row.run_id));
}

async function requeueRuns(
  client: pg.ClientBase,
  releases: (OwnedRelease & { failures: number; drains: number })[],
  { leaseMs }: ReleaseOptions,
): Promise<void> {
  if (releases.length === 0) return;
  await client.query({
    name: 'engine_requeue_runs',
    text: `WITH i AS (
             SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::boolean[], $5::boolean[], $7::float8[],
                                  $8::boolean[], $9::boolean[], $10::integer[])
               AS i (run_id, thread_id, failures, is_suspect, is_lost, delay_ms, awaits_key, is_unexecuted, drains)
           ), fences AS (
             UPDATE thread_fence f SET epoch = ${NEXT_EPOCH}, run_id = NULL FROM i WHERE f.thread_id = i.thread_id
           )
           UPDATE run r
           SET status = 'pending', worker_id = NULL, epoch = NULL, failures = i.failures, drains = i.drains,
               ready_at = CASE WHEN i.delay_ms > 0 THEN now() + make_interval(secs => i.delay_ms / 1000)
                               ELSE r.ready_at END,
               is_suspect = r.is_suspect OR i.is_suspect, updated_at = now(),
               key_missing_since = CASE WHEN i.awaits_key THEN coalesce(r.key_missing_since, now()) END,
               -- It stays one that has begun, so that no other run of its thread passes it.
               attempt = CASE WHEN i.is_unexecuted THEN greatest(1, r.attempt - 1) ELSE r.attempt END,
               lost_at = (SELECT w.lease_until - make_interval(secs => $6::float8 / 1000) FROM worker w
                          WHERE i.is_lost AND w.worker_id = r.worker_id)
           FROM i WHERE r.run_id = i.run_id`,
    values: [
      releases.map(({ run }) => run.runId),
      releases.map(({ run }) => run.threadId),
      releases.map(({ failures }) => failures),
      releases.map(({ isQuarantined }) => isQuarantined ?? false),
      releases.map(({ isLost }) => isLost ?? false),
      leaseMs,
      releases.map(({ delayMs }) => delayMs ?? 0),
      releases.map(({ awaitsKey }) => awaitsKey !== undefined),
      releases.map(({ awaitsKey }) => awaitsKey === 'beforeExecution'),
      releases.map(({ drains }) => drains),
    ],
  });
  await refreshHeads(
    client,
    releases.map(({ run }) => run.threadId),
  );
}
