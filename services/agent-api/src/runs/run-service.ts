import { conforms, type Run, type RunListQuery, RunStatus } from '@runyard/contracts';
import { isRetryable } from '@runyard/database';
import type {
  AcceptedRun,
  CancelAction,
  CancelledRun,
  CancelSelection,
  CreatedRun,
  KeyedCreation,
  RunEngine,
  RunRecord,
  RunWakeups,
} from '@runyard/run-engine';
import type { RunStreams } from '@runyard/run-stream';
import { ConflictError, type Logger, NotFoundError } from '@runyard/service-kit';
import { runAttributes, type TraceContext, type TraceSpan, type Tracing } from '@runyard/tracing';
import { inSlices } from '../access/in-slices.ts';
import { isRestricted, type Scope } from '../access/scope.ts';
import type { AssistantLookup } from '../assistants/assistant-lookup.ts';
import type { ListRoom } from '../http/list-room.ts';
import { notifyCancelled, notifyDeleted } from '../streams/notify-ended.ts';
import { requireOwnCheckpoint } from '../threads/checkpoint-position.ts';
import type { ThreadStore } from '../threads/thread-store.ts';
import { traceOfRun } from '../traces/trace-of-run.ts';
import type { WebhookTargets } from '../webhooks/webhook-targets.ts';
import { type RunOrigin, toAcceptedRun, type UserPolicy } from './accepted-run.ts';
import type { RunRequest } from './run-arguments.ts';
import type { RunLocation } from './run-locations.ts';
import { needsKwargs, selectRunFields, toWireRun } from './run-wire.ts';
import { traceCreation } from './trace-creation.ts';

type Engine = Pick<
  RunEngine,
  | 'createRun'
  | 'createRunsTogether'
  | 'getRun'
  | 'findRuns'
  | 'listRuns'
  | 'listRunsWithin'
  | 'deleteRun'
  | 'requestCancel'
  | 'currentEpoch'
>;

export interface RunServiceOptions extends UserPolicy {
  engine: Engine;
  streams: Pick<RunStreams, 'append' | 'publishCancel'>;
  wakeups: Pick<RunWakeups, 'wake' | 'wakeAfter'>;
  assistants: Pick<AssistantLookup, 'find'>;
  webhooks: Pick<WebhookTargets, 'accept'>;
  threads: Pick<ThreadStore, 'findWithoutState' | 'isRunVisible'>;
  listRoom: ListRoom;
  /** Reports that a run was deleted without an end event: whoever waits for it should look. */
  onDeleted: () => void;
  /** The LangSmith project of runs that name none; left out when nothing is traced. */
  tracingProject?: string | undefined;
  tracing: Tracing;
  logger: Logger;
}

export interface StoredRun extends RunLocation {
  record: RunRecord;
}

const NO_RUNS = 'No runs found to cancel.';

export class RunService {
  readonly #options: RunServiceOptions;

  constructor(options: RunServiceOptions) {
    this.#options = options;
  }

  /**
   * Accepts a run: it is durable when this resolves.
   *
   * @throws NotFoundError, ConflictError, BadRequestError, UnprocessableError
   */
  async create(origin: RunOrigin, request: RunRequest, keyed?: KeyedCreation<RunRecord>): Promise<StoredRun> {
    return traceCreation(this.#options.tracing, {
      parent: origin.trace,
      create: async (trace) => {
        const run = { ...(await this.#prepare({ ...origin, trace }, request)), keyed };
        return this.#notifyCreated(origin, run, await this.#options.engine.createRun(run));
      },
      describe: (span, created) => this.#describe(span, created, request),
    });
  }

  /** Accepts several stateless runs, all or none. @throws as `create` */
  async createBatch(
    requests: { origin: RunOrigin; body: RunRequest }[],
    keyed?: KeyedCreation<RunRecord[]>,
  ): Promise<StoredRun[]> {
    const create = async (trace: TraceContext | undefined) => {
      const prepared = await inSlices(requests, ({ origin, body }) => this.#prepare({ ...origin, trace }, body));
      const created = await this.#options.engine.createRunsTogether(prepared, keyed);
      return Promise.all(
        created.map((each, index) => this.#notifyCreated(requests[index]!.origin, prepared[index]!, each)),
      );
    };
    return traceCreation(this.#options.tracing, {
      parent: requests[0]?.origin.trace,
      create,
      describe: async (span, runs) => span.setAttributes({ 'messaging.batch.message_count': runs.length }),
    });
  }

  /** Returns the run's current state. @throws NotFoundError, EncryptionError when it cannot be decrypted */
  async find(scope: Scope, threadId: string, runId: string): Promise<RunRecord> {
    await this.#requireVisible(scope, runId);
    const run = await this.#options.engine.getRun(threadId, runId);
    if (!run) throw new NotFoundError('Run not found');
    return run;
  }

  /** Finds a run by its id alone. @throws NotFoundError, EncryptionError */
  async findById(scope: Scope, runId: string): Promise<RunRecord> {
    await this.#requireVisible(scope, runId);
    const [run] = await this.#options.engine.findRuns([runId]);
    if (!run) throw new NotFoundError('Run not found');
    if (run.fault) throw run.fault;
    return run;
  }

  /**
   * Returns runs, newest first, which have room until the signal; the `kwargs` of an undecryptable one carry the error.
   * @throws NotFoundError for a missing thread, PayloadTooLargeError
   */
  async list(scope: Scope, threadId: string, query: RunListQuery, until: AbortSignal): Promise<Partial<Run>[]> {
    if (!(await this.#options.threads.findWithoutState(scope, threadId))) {
      throw new NotFoundError(`Thread with ID ${threadId} not found`);
    }
    const { status } = query;
    if (status !== undefined && !conforms(RunStatus, status)) return [];
    const list = {
      threadId,
      ...(status !== undefined && { status }),
      limit: query.limit ?? 10,
      offset: query.offset ?? 0,
      withKwargs: needsKwargs(query.select),
    };
    const { engine, listRoom } = this.#options;
    const { rows } = await listRoom.readWhole(until, (maxBytes) => engine.listRunsWithin({ ...list, maxBytes }));
    return rows.map((run) => selectRunFields(toWireRun(run), query.select));
  }

  /** @throws NotFoundError */
  async delete(scope: Scope, threadId: string, runId: string): Promise<void> {
    await this.#requireVisible(scope, runId);
    const deleted = await this.#options.engine.deleteRun(threadId, runId);
    this.#options.onDeleted();
    if (deleted) await notifyDeleted(this.#options, [deleted]);
  }

  /**
   * Cancels runs; the order is durable when this resolves. @throws NotFoundError when nothing selected is in flight,
   * ConflictError
   */
  async cancel(
    scope: Scope,
    selection: CancelSelection,
    action: CancelAction,
    reason: string,
  ): Promise<CancelledRun[]> {
    const own = isRestricted(scope) ? { ...selection, scope } : selection;
    const cancelled = await this.#options.engine.requestCancel(own, action, reason).catch(mapDeadlock);
    if (cancelled.length === 0) throw new NotFoundError(NO_RUNS);
    await notifyCancelled(this.#options, cancelled);
    return cancelled;
  }

  /** Returns whether the caller may read on the events that are left of a deleted run. */
  async mayContinueReading(scope: Scope, threadId: string): Promise<boolean> {
    return !isRestricted(scope) || (await this.#options.threads.findWithoutState(scope, threadId)) !== undefined;
  }

  /** An answer to a question continues another run, in a trace of its own: it refers to the one that asked. */
  async #describe(span: TraceSpan, { runId, threadId }: StoredRun, { command }: RunRequest): Promise<void> {
    span.setAttributes(runAttributes({ runId, threadId }));
    if (!span.isRecorded || command?.resume === undefined) return;
    const [, earlier] = await this.#options.engine.listRuns({ threadId, limit: 2, offset: 0 });
    const asking = earlier && traceOfRun(earlier.kwargs);
    if (asking) span.link(asking);
  }

  async #prepare(origin: RunOrigin, request: RunRequest): Promise<AcceptedRun> {
    const { assistants, webhooks, tracingProject, hasUsers } = this.#options;
    if (origin.threadId !== undefined) requireOwnCheckpoint(origin.threadId, request.checkpoint);
    const assistant = await assistants.find(origin.assistantScope, request.assistant_id);
    const run = toAcceptedRun(request, assistant, { ...origin, tracingProject, hasUsers });
    return { ...run, webhooks: await webhooks.accept(request.webhook) };
  }

  async #notifyCreated(
    { threadId }: RunOrigin,
    run: AcceptedRun,
    { run: record, cancelled }: CreatedRun,
  ): Promise<StoredRun> {
    if (run.afterSeconds) this.#options.wakeups.wakeAfter(run.afterSeconds);
    else this.#options.wakeups.wake('created');
    if (cancelled.length > 0) await notifyCancelled(this.#options, cancelled);
    return { record, runId: record.runId, threadId: record.threadId, isStateless: threadId === undefined };
  }

  /** Asks nothing for an unrestricted caller: the engine itself reports what does not exist. @throws NotFoundError */
  async #requireVisible(scope: Scope, runId: string): Promise<void> {
    if (!isRestricted(scope) || (await this.#options.threads.isRunVisible(scope, runId))) return;
    throw new NotFoundError('Run not found');
  }
}

/**
 * Maps a deadlock to a ConflictError. The engine has retried already: others hold what has to be cancelled, each
 * waiting for the next.
 */
function mapDeadlock(error: unknown): never {
  if (!isRetryable(error)) throw error;
  throw new ConflictError('The runs are being changed by others at the same time. Try again.', {
    code: 'runs_changed_concurrently',
    cause: error,
  });
}
