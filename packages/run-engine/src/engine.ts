import { type AtRest, PLAIN } from '@runyard/sealing';
import type pg from 'pg';
import { CronFiring } from './crons/cron-firing.ts';
import type { RunEngineOptions } from './engine-options.ts';
import { EngineWrites } from './engine-writes.ts';
import { currentEpoch } from './locks.ts';
import { RunEvents } from './run-events.ts';
import { requestCancel } from './runs/cancel-runs.ts';
import { type ClaimOptions, claimRuns } from './runs/claim-runs.ts';
import { toCreation } from './runs/create-runs.ts';
import { createRunsTogether } from './runs/create-runs-once.ts';
import { deleteRun } from './runs/delete-run.ts';
import { findRuns, getRun, listRuns, type RunQuery, readOutcome, runsInFlight } from './runs/read-runs.ts';
import { releaseRun } from './runs/release-runs.ts';
import { RunCommits } from './runs/run-commits.ts';
import type {
  CancelledRun,
  CancelSelection,
  ClaimedRun,
  CreatedRun,
  CreateRun,
  DeletedRun,
  FinishedRun,
  FinishRun,
  ReleasedRun,
  RunOutcome,
  RunRecord,
  RunRelease,
} from './runs/types.ts';
import { sealedState } from './sealed-state.ts';
import { queueStatistics } from './statistics.ts';
import { createThread } from './threads/create-thread.ts';
import { type Deletion, deleteThread } from './threads/delete-thread.ts';
import { ThreadDrafts } from './threads/thread-drafts.ts';
import { ThreadHistories } from './threads/thread-histories.ts';
import { ThreadRemovals } from './threads/thread-removals.ts';
import type { CommitStateUpdate, CreateThread, ThreadRecord, ThreadTtl } from './threads/types.ts';
import { underKey } from './threads/under-key.ts';
import { beginStateUpdate, commitStateUpdate } from './threads/update-state.ts';
import type { BoundKey, CancelAction, Fence, KeyedCreation, KeyedThread } from './types.ts';
import { ClockWatch } from './workers/clock-watch.ts';
import { drainWorker, registerWorker, removeWorker, renewLease } from './workers/leases.ts';
import { Rescue } from './workers/rescue.ts';
import { type SweepOptions, sweep, takeRunsOfLost } from './workers/sweep.ts';
import type { LapsedWorkersOptions } from './workers/take-runs.ts';
import type { LeaseRenewal, QueueStatistics, SweepResult, TakenRuns, WorkerRegistration } from './workers/types.ts';

const LOCK_WAIT_MS_MAX = 5_000;

/**
 * The state machine of runs and threads: the only writer of their statuses.
 *
 * What it promises: an accepted run is in Postgres; at most one run of a thread runs; the runs of a thread start in the order
 * they were accepted; a run reaches exactly one terminal status; a worker that lost a run can write nothing more for it.
 * Waking workers, streams and the execution itself are others' work: losing any of them costs time, not truth.
 */
export class RunEngine {
  /** Makes the runs that crons ask for. */
  readonly crons: CronFiring;
  /** Copies, prunes and measures what threads keep. */
  readonly histories: ThreadHistories;
  /** Makes threads that begin with a state. */
  readonly drafts: ThreadDrafts;
  /** Removes what deleted threads have left. */
  readonly removals: ThreadRemovals;
  /** Puts right what needs no worker. */
  readonly rescue: Rescue;
  readonly #pool: pg.Pool;
  readonly #options: Required<Pick<RunEngineOptions, 'leaseMs' | 'maxFailures' | 'resultTtlMs'>>;
  readonly #threadTtl: ThreadTtl | undefined;
  readonly #events: RunEvents;
  readonly #atRest: AtRest;
  readonly #writes: EngineWrites;
  readonly #clock: ClockWatch;
  readonly #lapsed: LapsedWorkersOptions;
  readonly #commits: RunCommits;

  constructor(options: RunEngineOptions) {
    this.#pool = options.pool;
    this.#options = {
      leaseMs: options.leaseMs ?? 10_000,
      maxFailures: options.maxFailures ?? 3,
      resultTtlMs: options.resultTtlMs ?? 3_600_000,
    };
    this.#threadTtl = options.threadTtl;
    this.#events = new RunEvents(options.deploymentId, options.source);
    this.#atRest = options.atRest ?? PLAIN;
    const { leaseMs } = this.#options;
    // Whoever lives has renewed once within this time, and a smaller jump makes no lease lapse that was renewed in time.
    this.#clock = new ClockWatch({ toleranceMs: leaseMs / 3, holdMs: leaseMs, now: options.now });
    const { pool, threadTtl } = options;
    const [events, atRest] = [this.#events, this.#atRest];
    const { onOutboxWritten, onWebhooksQueued, onStaleWrite } = options;
    // Below the time limit of a worker's statements, which says that the database does not get something done.
    const lockWaitMs = Math.min(LOCK_WAIT_MS_MAX, leaseMs / 2);
    this.#writes = new EngineWrites({ pool, events, lockWaitMs, onOutboxWritten, onWebhooksQueued, onStaleWrite });
    const { write } = this.#writes;
    this.crons = new CronFiring({ pool, events, atRest, threadTtl, writes: this.#writes });
    this.histories = new ThreadHistories({ pool, events, threadTtl, write });
    this.removals = new ThreadRemovals(write);
    const { removals } = this;
    this.drafts = new ThreadDrafts({ write, removals, threadTtl, atRest });
    this.#lapsed = { write, events, onFailure: options.onTakeBackFailure, ...this.#options };
    this.rescue = new Rescue({ pool, ...this.#lapsed });
    this.#commits = new RunCommits({ write, events, threadTtl, removals, lockWaitMs });
  }

  /**
   * Accepts a run: once this resolves it is in Postgres. Wake workers afterwards, and tell the workers of cancelled runs.
   * Throws NotFoundError for a missing thread or one outside of its scope, ConflictError for `reject` on a busy one, KeyTakenError.
   */
  createRun(run: CreateRun): Promise<CreatedRun> {
    return this.#commits.create(toCreation(run, this.#atRest));
  }

  /** Accepts the stateless runs of one request, all or none. Throws KeyTakenError. */
  createRunsTogether(runs: CreateRun[], keyed?: KeyedCreation<RunRecord[]>): Promise<CreatedRun[]> {
    const batch = runs.map((run) => toCreation(run, this.#atRest));
    return this.#writes.write((client) => createRunsTogether(client, batch, keyed, this.#events, this.#threadTtl));
  }

  /** Throws SealingError when it cannot be decrypted. */
  getRun(threadId: string, runId: string): Promise<RunRecord | undefined> {
    return getRun(this.#pool, threadId, runId, this.#atRest);
  }

  /** What a run came to; with `maxValuesBytes` its final values only if they are stored in so many at most. Throws SealingError. */
  readOutcome(run: { threadId: string; runId: string }, maxValuesBytes?: number): Promise<RunOutcome | undefined> {
    return readOutcome(this.#pool, run, maxValuesBytes, this.#atRest);
  }

  /** Newest first. One that cannot be decrypted has a `fault`. */
  listRuns(query: RunQuery): Promise<RunRecord[]> {
    return listRuns(this.#pool, query, this.#atRest);
  }

  /** The runs named that exist, in no order. One that cannot be decrypted has a `fault`. */
  findRuns(runIds: string[]): Promise<RunRecord[]> {
    return findRuns(this.#pool, runIds, this.#atRest);
  }

  /** Which of these runs are pending or running; the others are over or gone. */
  runsInFlight(runIds: string[]): Promise<Set<string>> {
    return runsInFlight(this.#pool, runIds);
  }

  /**
   * Throws NotFoundError. A run under way loses the right to write; its checkpoints stay. Answers a run that was not over yet,
   * for those who watch it to be told.
   */
  deleteRun(threadId: string, runId: string): Promise<DeletedRun | undefined> {
    return this.#writes.write((client) => deleteRun(client, threadId, runId, this.#events));
  }

  /**
   * Cancels runs. Durable once this resolves: waiting ones are `interrupted` then, running ones end when their worker has
   * obeyed or is found gone. Of a whole status those accepted meanwhile stay. Empty when nothing selected is in flight.
   */
  requestCancel(selection: CancelSelection, action: CancelAction, reason: string): Promise<CancelledRun[]> {
    return requestCancel(this.#pool, { selection, action, reason }, this.#writes.write, this.#events);
  }

  /**
   * Takes runs for a worker, oldest first, at most one per thread. One whose arguments cannot be decrypted here has failed with
   * that: it keeps no other run from being claimed, and a worker that has the key may still execute it.
   */
  async claimRuns(workerId: string, limit: number, options: ClaimOptions = {}): Promise<ClaimedRun[]> {
    const template = this.#events.startedTemplate;
    const { claimed, unreadable } = await claimRuns(
      this.#pool,
      { workerId, limit, ...options },
      template,
      this.#atRest,
    );
    if (claimed.length + unreadable.length > 0) this.#writes.tell({ hasWebhooks: false });
    for (const { fence, error } of unreadable) {
      // What cannot be given back now comes back with the lease: nobody holds it.
      await this.releaseRun(fence, { failure: { error: error.name, message: error.message } }).catch(() => undefined);
    }
    return claimed;
  }

  /**
   * The epoch under which a thread's stream takes appends now; undefined for a thread that is gone. For the end of a run
   * that is durable already, when the thread has a newer owner by the time it is told.
   */
  currentEpoch(threadId: string): Promise<bigint | undefined> {
    return currentEpoch(this.#pool, threadId);
  }

  /** Brings a run to its terminal status. Throws FencedError when it is not the caller's any more. */
  finishRun(finish: FinishRun): Promise<FinishedRun> {
    return this.#writes.fenced(this.#commits.finish(sealedState(this.#atRest, finish)));
  }

  /**
   * Gives a run back to be claimed again. With a failure the attempt counts against it, and too many in a row end it.
   * Throws FencedError when it is not the caller's any more.
   */
  releaseRun(fence: Fence, release: RunRelease = {}): Promise<ReleasedRun> {
    return this.#writes.fenced(
      this.#writes.write((client) => releaseRun(client, { fence, release }, this.#options, this.#events)),
    );
  }

  registerWorker(registration: WorkerRegistration): Promise<void> {
    return registerWorker(this.#pool, registration, this.#options.leaseMs);
  }

  /** `held`: the fences of the runs the worker believes to hold. */
  renewLease(workerId: string, held: Fence[]): Promise<LeaseRenewal> {
    return renewLease(this.#pool, { workerId, held, leaseMs: this.#options.leaseMs, clock: this.#clock });
  }

  drainWorker(workerId: string): Promise<void> {
    return drainWorker(this.#pool, workerId);
  }

  removeWorker(workerId: string): Promise<void> {
    return removeWorker(this.#pool, workerId);
  }

  /** Takes back the runs of lapsed workers and clears what is past its time. To be called every few seconds by someone. */
  sweep(): Promise<SweepResult> {
    return sweep(this.#pool, this.#sweepOptions);
  }

  /** Takes back the runs of lapsed workers: the part of a sweep that is not to wait for the one who sweeps. */
  takeRunsOfLost(): Promise<TakenRuns> {
    return takeRunsOfLost(this.#pool, this.#sweepOptions);
  }

  get #sweepOptions(): SweepOptions {
    return { ...this.#options, ...this.#lapsed, forgottenAfterMs: 2_000, clock: this.#clock };
  }

  /** Throws ConflictError when the thread exists and that is not welcome, KeyTakenError. */
  createThread(thread: CreateThread, keyed?: KeyedThread): Promise<ThreadRecord> {
    return this.removals.whenFree(thread.threadId, () =>
      this.#writes.write((client) => underKey(client, keyed, () => createThread(client, thread, this.#threadTtl))),
    );
  }

  /** Throws NotFoundError. Answers what streams have to be told: the thread, and its runs that were not over yet. */
  deleteThread(threadId: string): Promise<Deletion> {
    return this.#writes.write((client) => deleteThread(client, threadId, this.#events));
  }

  /** Throws NotFoundError, and ConflictError while a run is in flight. */
  beginStateUpdate(threadId: string): Promise<Fence> {
    return this.#writes.write((client) => beginStateUpdate(client, threadId));
  }

  /** Throws FencedError when a run has begun since `beginStateUpdate`, KeyTakenError. */
  commitStateUpdate(update: CommitStateUpdate, bound?: BoundKey): Promise<void> {
    return this.#writes.fenced(
      this.#writes.write((client) => commitStateUpdate(client, sealedState(this.#atRest, update), bound)),
    );
  }

  /** From now on only workers of this revision claim; null lets any. */
  async activateRevision(revisionId: string | null): Promise<void> {
    await this.#pool.query('UPDATE deployment SET active_revision = $1', [revisionId]);
  }

  queueStatistics(): Promise<QueueStatistics> {
    return queueStatistics(this.#pool);
  }

  /** Resolves when everything submitted is settled. The pool stays open. */
  async close(): Promise<void> {
    await this.#commits.close();
  }
}
