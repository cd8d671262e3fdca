import type { SizedRows } from '@runyard/database';
import { type DataCipher, NO_ENCRYPTION } from '@runyard/encryption';
import type pg from 'pg';
import { Budgets } from './budgets/budgets.ts';
import type { ExhaustedBudget } from './budgets/types.ts';
import { CronFiring } from './crons/cron-firing.ts';
import type { RunEngineOptions } from './engine-options.ts';
import { EngineWrites } from './engine-writes.ts';
import { currentEpoch } from './locks.ts';
import { countRunsAwaitingKeys, readQueueStatistics } from './queue-statistics.ts';
import { RunEvents } from './run-events.ts';
import { requestCancel } from './runs/cancel-runs.ts';
import type { ClaimOptions } from './runs/claim-runs.ts';
import type { CreationRules } from './runs/create-runs.ts';
import { createRunsTogether } from './runs/create-runs-once.ts';
import { deleteRun } from './runs/delete-run.ts';
import { encodeRun } from './runs/encode-run.ts';
import { Halts } from './runs/halts.ts';
import { MissingKeys } from './runs/missing-keys.ts';
import {
  findRuns,
  getRun,
  listRuns,
  listRunsWithin,
  type RunQuery,
  readOutcome,
  runsInFlight,
} from './runs/read-runs.ts';
import { RELEASE_DELAYS_MS, type ReleaseOptions, releaseRun } from './runs/release-runs.ts';
import { RunClaims } from './runs/run-claims.ts';
import { RunCommits } from './runs/run-commits.ts';
import type {
  AcceptedRun,
  CancelledRun,
  CancelSelection,
  ClaimedRun,
  CreatedRun,
  FinishedRun,
  FinishRun,
  ReleasedRun,
  RunOutcome,
  RunRecord,
  RunRelease,
} from './runs/types.ts';
import { cancelWaitingTask } from './tasks/cancel-waiting-task.ts';
import { asksForAuth } from './tasks/needs-auth.ts';
import { deleteThread, type ThreadDeletion } from './threads/delete-thread.ts';
import { encryptThreadState } from './threads/state-encryption.ts';
import { ThreadCreations } from './threads/thread-creations.ts';
import { ThreadDrafts } from './threads/thread-drafts.ts';
import { ThreadHistories } from './threads/thread-histories.ts';
import { ThreadRemovals } from './threads/thread-removals.ts';
import type { CommitStateUpdate, CreatedThread, CreateThread, ThreadTtl } from './threads/types.ts';
import { beginStateUpdate, commitStateUpdate } from './threads/update-state.ts';
import type { BoundKey, CancelAction, DeletedRun, Fence, KeyedCreation, KeyedThread, UsedRun } from './types.ts';
import { ClockWatch } from './workers/clock-watch.ts';
import { drainWorker, mayClaim, registerWorker, removeWorker, renewLease } from './workers/leases.ts';
import { Rescue } from './workers/rescue.ts';
import { type SweepOptions, sweep, takeBackLostRuns } from './workers/sweep.ts';
import type { TakeBackOptions } from './workers/take-back-runs.ts';
import type { LeaseRenewal, LostRunsSweep, QueueStatistics, SweepResult, WorkerRegistration } from './workers/types.ts';

const LOCK_WAIT_MS_MAX = 5_000;
/** Milliseconds until a run is claimed again of which handlers of the project refused a value. */
const REFUSED_RETRY_MS = 10_000;
/** A key that is lost for good is found in a working day; one that a change of keys has left out is brought back. */
const KEY_WAIT_MS = 24 * 3_600_000;

/**
 * The state machine of runs and threads: the only writer of their statuses.
 *
 * It promises: an accepted run is in Postgres; at most one run of a thread runs; the runs of a thread start in the
 * order they were accepted; a run reaches exactly one terminal status; a worker that lost a run can write nothing more
 * for it. Other parts wake workers, publish streams and execute runs: losing any of them costs time, and no run.
 */
export class RunEngine {
  /** Creates the runs of crons. */
  readonly crons: CronFiring;
  /** Copies, prunes and measures the stored history of threads. */
  readonly histories: ThreadHistories;
  /** Creates threads that begin with a state. */
  readonly drafts: ThreadDrafts;
  /** Removes the remaining rows of deleted threads. */
  readonly removals: ThreadRemovals;
  /** Enforces the halt of the deployment. */
  readonly halts: Halts;
  /** Repairs what needs no worker. */
  readonly rescue: Rescue;
  readonly #pool: pg.Pool;
  readonly #options: ReleaseOptions & { resultTtlMs: number };
  readonly #threadTtl: ThreadTtl | undefined;
  readonly #creationRules: CreationRules;
  readonly #events: RunEvents;
  readonly #cipher: DataCipher;
  readonly #writes: EngineWrites;
  readonly #clock: ClockWatch;
  readonly #lapsed: TakeBackOptions;
  readonly #commits: RunCommits;
  readonly #threads: ThreadCreations;
  readonly #claims: RunClaims;

  constructor(options: RunEngineOptions) {
    this.#pool = options.pool;
    this.#options = {
      leaseMs: options.leaseMs ?? 10_000,
      maxFailures: options.maxFailures ?? 3,
      maxAttempts: options.maxAttempts ?? 100,
      maxDrains: options.maxDrains ?? 50,
      releaseDelaysMs: options.releaseDelaysMs ?? RELEASE_DELAYS_MS,
      keyWaitMs: options.keyWaitMs ?? KEY_WAIT_MS,
      resultTtlMs: options.resultTtlMs ?? 3_600_000,
    };
    this.#threadTtl = options.threadTtl;
    this.#events = new RunEvents(options.deploymentId, options.source);
    this.#cipher = options.cipher ?? NO_ENCRYPTION;
    const { leaseMs } = this.#options;
    // Every live worker renews once within this time, and a smaller jump ends no lease that was renewed in time.
    this.#clock = new ClockWatch({ toleranceMs: leaseMs / 3, holdMs: leaseMs, now: options.now });
    const { pool, threadTtl } = options;
    const [events, cipher] = [this.#events, this.#cipher];
    const { onOutboxWritten, onWebhooksQueued, onStaleWrite } = options;
    // A statement of a worker has a longer time limit, because exceeding that one means that the database is too slow.
    const lockWaitMs = Math.min(LOCK_WAIT_MS_MAX, leaseMs / 2);
    this.#writes = new EngineWrites({ pool, events, lockWaitMs, onOutboxWritten, onWebhooksQueued, onStaleWrite });
    const { write } = this.#writes;
    const budgets = new Budgets({ onExhausted: options.onBudgetExhausted });
    this.#creationRules = { events, budgets, threadTtl, waitingRunsMax: options.waitingRunsMax ?? 5_000 };
    this.crons = new CronFiring({ pool, cipher, ...this.#creationRules, writes: this.#writes });
    this.histories = new ThreadHistories({ pool, events, threadTtl, write, cipher });
    this.removals = new ThreadRemovals(write);
    const { removals } = this;
    this.drafts = new ThreadDrafts({ write, removals, threadTtl, cipher });
    this.#threads = new ThreadCreations({ write, removals, threadTtl, cipher });
    this.#lapsed = { write, events, onFailure: options.onTakeBackFailure, ...this.#options };
    this.halts = new Halts({ pool, write, events });
    this.rescue = new Rescue({ pool, cipher, ...this.#lapsed });
    this.#commits = new RunCommits({ write, rules: this.#creationRules, removals, lockWaitMs });
    const missingKeys = new MissingKeys({
      release: (fence, release) => this.releaseRun(fence, release),
      countWaiting: () => countRunsAwaitingKeys(pool),
      onMissing: options.onMissingKey,
      // Handlers may have a reason that passes.
      refusedRetryMs: cipher.needsKeys ? REFUSED_RETRY_MS : 0,
      now: options.now,
    });
    const startedTemplate = events.templates.started;
    this.#claims = new RunClaims({ pool, cipher, startedTemplate, writes: this.#writes, missingKeys });
  }

  /**
   * Accepts a run: once this resolves, it is in Postgres. The caller then wakes workers, and notifies the workers of
   * cancelled runs. Throws NotFoundError for a missing thread or one outside of its scope, ConflictError for `reject`
   * on a busy one, TooManyRequestsError when too many wait on it or a budget is used up, PaymentRequiredError,
   * KeyTakenError, EncryptionUnavailableError, HaltedError.
   */
  async createRun(run: AcceptedRun): Promise<CreatedRun> {
    return this.#commits.create(await encodeRun(run, this.#cipher));
  }

  /** Accepts the stateless runs of one request, all or none. Throws KeyTakenError, EncryptionUnavailableError, HaltedError. */
  async createRunsTogether(runs: AcceptedRun[], keyed?: KeyedCreation<RunRecord[]>): Promise<CreatedRun[]> {
    const batch = await Promise.all(runs.map((run) => encodeRun(run, this.#cipher)));
    return this.#writes.write((client) => createRunsTogether(client, batch, keyed, this.#creationRules));
  }

  /** Throws EncryptionError when the run cannot be decrypted. */
  getRun(threadId: string, runId: string): Promise<RunRecord | undefined> {
    return getRun(this.#pool, threadId, runId, this.#cipher);
  }

  /**
   * Returns the result of a run so far; with `maxValuesBytes` its final values only if they are stored in at most that
   * many bytes. Throws EncryptionError.
   */
  readOutcome(run: { threadId: string; runId: string }, maxValuesBytes?: number): Promise<RunOutcome | undefined> {
    return readOutcome(this.#pool, run, maxValuesBytes, this.#cipher);
  }

  /** Returns the newest first. A run that cannot be decrypted has a `fault`. */
  listRuns(query: RunQuery): Promise<RunRecord[]> {
    return listRuns(this.#pool, query, this.#cipher);
  }

  /** Returns the same runs with the bytes of their rows; none where those are more than `maxBytes`. */
  listRunsWithin(query: RunQuery & { maxBytes: number }): Promise<SizedRows<RunRecord>> {
    return listRunsWithin(this.#pool, query, this.#cipher);
  }

  /** Returns the named runs that exist, in no order. A run that cannot be decrypted has a `fault`. */
  findRuns(runIds: string[]): Promise<RunRecord[]> {
    return findRuns(this.#pool, runIds, this.#cipher);
  }

  /** Returns which of these runs are pending or running; the others have ended or were deleted. */
  runsInFlight(runIds: string[]): Promise<Set<string>> {
    return runsInFlight(this.#pool, runIds);
  }

  /**
   * Throws NotFoundError. A running run loses the right to write; its checkpoints stay, unless a rollback of it was
   * accepted before. Returns a run that had not ended, so that the caller can notify its watchers.
   */
  deleteRun(threadId: string, runId: string): Promise<DeletedRun | undefined> {
    return deleteRun(this.#writes.write, threadId, runId, this.#events);
  }

  /**
   * Cancels runs. The cancel is durable once this resolves. Waiting runs are `interrupted` then; running ones end when
   * their worker has obeyed or is found lost. Cancelling a whole status skips runs that are accepted meanwhile. Empty
   * when nothing selected is in flight.
   */
  requestCancel(selection: CancelSelection, action: CancelAction, reason: string): Promise<CancelledRun[]> {
    return requestCancel(this.#pool, { selection, action, reason }, this.#writes.write, this.#events);
  }

  /**
   * Claims runs for a worker, oldest first, at most one per thread. A run whose key is not to be had here is released
   * to wait for it, and runs of that key are left to other workers for a moment; one whose arguments are damaged fails.
   * With `onDelayed` no run waits for handlers that another one needs.
   */
  claimRuns(workerId: string, limit: number, options: ClaimOptions = {}): Promise<ClaimedRun[]> {
    return this.#claims.claim(workerId, limit, options);
  }

  /** Returns whether the deployment's runs are for workers of this one's revision. */
  mayClaim(workerId: string): Promise<boolean> {
    return mayClaim(this.#pool, workerId);
  }

  /**
   * Returns the epoch under which a thread's stream accepts appends now; undefined for a deleted thread. It serves to
   * publish the end of a run that is durable already, when the thread may have a newer owner.
   */
  currentEpoch(threadId: string): Promise<bigint | undefined> {
    return currentEpoch(this.#pool, threadId);
  }

  /** Brings a run to its terminal status. Throws FencedError when the caller has lost it. */
  finishRun(finish: FinishRun): Promise<FinishedRun> {
    const encoded = {
      ...encryptThreadState(this.#cipher, finish),
      needsAuth: finish.status === 'success' && asksForAuth(finish.interrupts),
    };
    return this.#writes.reportStaleWrites(this.#commits.finish(encoded));
  }

  /**
   * Tells what an attempt has used so far. It need not own the run any more: what was used was used. Returns the budget
   * that the run has to stop for. Throws CommitRefusedError.
   */
  recordUsage(used: UsedRun): Promise<ExhaustedBudget | undefined> {
    return this.#commits.recordUsage(used);
  }

  /** Returns the budget for which a run must not begin: others have used it up since the run was created. */
  async findExhaustedBudget(runId: string): Promise<ExhaustedBudget | undefined> {
    const { budgets } = this.#creationRules;
    const stops = await this.#writes.write((client) => budgets.countTokens(client, [{ runId, tokens: 0 }]));
    return stops.get(runId);
  }

  /**
   * Releases a run to be claimed again. With a failure the attempt counts against it, and too many in a row end it.
   * Without one, the run waits longer after each attempt. One that waits for a key ends when that stays missing.
   * Throws FencedError when the caller has lost it.
   */
  releaseRun(fence: Fence, release: RunRelease = {}): Promise<ReleasedRun> {
    return this.#writes.reportStaleWrites(
      this.#writes.write((client) => releaseRun(client, { fence, release }, this.#options, this.#events)),
    );
  }

  /**
   * Ends a task that waits for input: `runId` is its newest run. Returns false when it does not wait any more. Callers
   * have found the task within their scope.
   */
  cancelWaitingTask(run: { threadId: string; runId: string }): Promise<boolean> {
    return this.#writes.write((client) => cancelWaitingTask(client, run, this.#events));
  }

  registerWorker(registration: WorkerRegistration): Promise<void> {
    return registerWorker(this.#pool, registration, this.#options.leaseMs);
  }

  /** @param held fences of the runs that the worker believes to hold */
  renewLease(workerId: string, held: Fence[]): Promise<LeaseRenewal> {
    return renewLease(this.#pool, { workerId, held, leaseMs: this.#options.leaseMs, clock: this.#clock });
  }

  drainWorker(workerId: string): Promise<void> {
    return drainWorker(this.#pool, workerId);
  }

  removeWorker(workerId: string): Promise<void> {
    return removeWorker(this.#pool, workerId);
  }

  /** Takes back the runs of lost workers and deletes expired rows. Some process must call it every few seconds. */
  sweep(): Promise<SweepResult> {
    return sweep(this.#pool, this.#sweepOptions);
  }

  /** Takes back the runs of lost workers. This part of a sweep must not wait for the rest. */
  takeBackLostRuns(): Promise<LostRunsSweep> {
    return takeBackLostRuns(this.#pool, this.#sweepOptions);
  }

  get #sweepOptions(): SweepOptions {
    return { ...this.#options, ...this.#lapsed, unclaimedAfterMs: 2_000, clock: this.#clock };
  }

  /** Throws ConflictError when the thread exists and `ifExists` is `raise`, KeyTakenError, EncryptionError, EncryptionUnavailableError. */
  createThread(thread: CreateThread, keyed?: KeyedThread): Promise<CreatedThread> {
    return this.#threads.create(thread, keyed);
  }

  /** Throws NotFoundError. Returns what streams must be notified of: the thread, and its runs that had not ended. */
  deleteThread(threadId: string): Promise<ThreadDeletion> {
    return this.#writes.write((client) => deleteThread(client, threadId, this.#events));
  }

  /** Throws NotFoundError, and ConflictError while a run is in flight. */
  beginStateUpdate(threadId: string): Promise<Fence> {
    return this.#writes.write((client) => beginStateUpdate(client, threadId));
  }

  /** Throws FencedError when a run has begun since `beginStateUpdate`, KeyTakenError. */
  commitStateUpdate(update: CommitStateUpdate, bound?: BoundKey): Promise<void> {
    return this.#writes.reportStaleWrites(
      this.#writes.write((client) =>
        commitStateUpdate(client, encryptThreadState(this.#cipher, update), { events: this.#events, bound }),
      ),
    );
  }

  /** Lets only workers of this revision claim from now on; null lets all. */
  async activateRevision(revisionId: string | null): Promise<void> {
    await this.#pool.query('UPDATE deployment SET active_revision = $1', [revisionId]);
  }

  readQueueStatistics(): Promise<QueueStatistics> {
    return readQueueStatistics(this.#pool);
  }

  /** Resolves when everything submitted is settled. The pool stays open. */
  async close(): Promise<void> {
    await Promise.all([this.#commits.close(), this.#threads.close()]);
  }
}
