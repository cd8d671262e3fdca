import type { CheckpointKey, PostgresCheckpoints } from '@runyard/checkpointer';
import type { CheckpointConfig, ThreadCreate, ThreadState, ThreadStateUpdate } from '@runyard/contracts';
import { NO_SCOPE } from '@runyard/encryption';
import type { FactoryConfig, GraphBackends, GraphHost } from '@runyard/graph-host';
import type { IdempotencyKeys, KeyedRequest } from '@runyard/idempotency';
import type {
  BoundKey,
  Fence,
  KeyedThread,
  NewThread,
  OutdatedState,
  RunEngine,
  ThreadStatus,
} from '@runyard/run-engine';
import { AppError, BadRequestError, ConflictError, NotFoundError } from '@runyard/service-kit';
import type { Scope } from '../access/scope.ts';
import { toCallerError } from '../errors/graph-errors.ts';
import { type CheckpointPosition, checkpointPositionOf } from './checkpoint-position.ts';
import { emptyState, storedState, toWireState } from './state-shapes.ts';
import type { StoredThread } from './stored-thread.ts';
import type { ThreadStore } from './thread-store.ts';

export interface StateQuery extends CheckpointPosition {
  subgraphs?: boolean;
}

export interface HistoryQuery extends StateQuery {
  limit: number;
  beforeCheckpointId?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
}

export interface StateUpdateResult {
  checkpoint: CheckpointConfig;
  configurable: CheckpointConfig;
  checkpoint_id: string;
}

/**
 * Opens storage for one use of a graph: with a fence the graph may write the fence's thread, and the mark identifies
 * its writes.
 */
export type OpenBackends = (fence?: Fence, mark?: string) => GraphBackends;
/** Called after every write of state once it is durable, with the state as it is then. Never rejects. */
export type OnStateUpdated = (fence: Fence, state: ThreadState) => Promise<void>;

/** The fields of a thread that writing its state needs. */
type WritableThread = Pick<StoredThread, 'threadId' | 'metadata'>;
type Supersteps = NonNullable<ThreadCreate['supersteps']>;
type Update = CheckpointPosition & { values?: unknown; asNode?: string };

export interface StateServiceOptions {
  threads: Pick<ThreadStore, 'findWithoutState'>;
  engine: Pick<RunEngine, 'beginStateUpdate' | 'commitStateUpdate' | 'drafts'>;
  host: Pick<GraphHost, 'getState' | 'getHistory' | 'updateState'>;
  backends: OpenBackends;
  /**
   * Returns the configuration of a graph that is made anew for each use; undefined for others, and where none is known.
   */
  configurationOf(threadId: string, graphId: string): Promise<FactoryConfig | undefined>;
  checkpoints: Pick<PostgresCheckpoints, 'findMarked'>;
  keys: Pick<IdempotencyKeys, 'claim' | 'release'>;
  onUpdated: OnStateUpdated;
}

/** Reads and writes the state of threads through their graphs, which alone understand it. */
export class StateService {
  readonly #options: StateServiceOptions;

  constructor(options: StateServiceOptions) {
    this.#options = options;
  }

  /**
   * Returns a state, which is empty for a thread that never ran and for an unknown checkpoint. @throws NotFoundError
   */
  async get(scope: Scope, threadId: string, query: StateQuery): Promise<ThreadState> {
    const graphId = graphOf(await this.#find(scope, threadId));
    if (graphId === undefined) return emptyState(threadId, query);
    try {
      const request = { ...(await this.#graphOf(threadId, graphId)), ...query };
      const state = (await this.#options.host.getState(request, this.#options.backends())) as ThreadState;
      return state.created_at === null ? emptyState(threadId, query) : toWireState(state);
    } catch (error) {
      throw toCallerError(error);
    }
  }

  /** Returns states, newest first. @throws NotFoundError */
  async history(scope: Scope, threadId: string, query: HistoryQuery): Promise<ThreadState[]> {
    const graphId = graphOf(await this.#find(scope, threadId));
    if (graphId === undefined || query.limit === 0) return [];
    try {
      const request = { ...(await this.#graphOf(threadId, graphId)), ...query };
      const states = (await this.#options.host.getHistory(request, this.#options.backends())) as ThreadState[];
      return states.map(toWireState);
    } catch (error) {
      throw toCallerError(error);
    }
  }

  /**
   * Writes to the state, once for a keyed request. @throws NotFoundError, BadRequestError without a graph or for an
   * unknown node, ConflictError while a run is in flight
   */
  async update(
    scope: Scope,
    threadId: string,
    request: ThreadStateUpdate,
    keyed?: KeyedRequest,
  ): Promise<StateUpdateResult> {
    const thread = await this.#find(scope, threadId);
    const update = {
      values: request.values ?? null,
      ...(request.as_node && { asNode: request.as_node }),
      ...checkpointPositionOf(threadId, { checkpoint_id: request.checkpoint_id, ...request.checkpoint }),
    };
    // Writing is slow: a repeated request has to wait meanwhile.
    const { wasClaimed } = keyed ? await this.#options.keys.claim(keyed) : { wasClaimed: false };
    return this.#write(thread, update, keyed && { request: keyed, mark: markOf(keyed), mayBeWritten: wasClaimed });
  }

  /**
   * Creates a thread with the state that supersteps build: it exists with all of them, or not at all, wherever this
   * process ends. @throws ConflictError when the id is taken, BadRequestError, UnprocessableError
   */
  async createThreadWithState(
    { threadId, ...thread }: NewThread & { threadId: string },
    supersteps: Supersteps,
    keyed?: KeyedThread,
  ): Promise<void> {
    const { drafts } = this.#options.engine;
    const fence = await drafts.begin(threadId);
    try {
      const graphId = requireGraph({ threadId, metadata: thread.metadata });
      await this.#options.host.updateState({ graphId, threadId, supersteps }, this.#options.backends(fence));
      const state = await this.#newest(threadId, graphId);
      await drafts.complete({ fence, thread, status: 'idle', ...storedState(state) }, keyed);
    } catch (error) {
      // While the database is away this is left to the sweep of rows without a thread.
      await drafts.discard(fence).catch(() => undefined);
      throw toCallerError(error);
    }
  }

  /**
   * Stores the newest checkpoint as the state of a thread whose stored values are older. Without a status the thread
   * keeps its own.
   */
  async refresh({ threadId, metadata, openScope }: OutdatedState, status: 'idle' | null = null): Promise<void> {
    const graphId = graphOf({ threadId, metadata });
    if (graphId === undefined) return;
    const fence = await this.#options.engine.beginStateUpdate(threadId);
    try {
      const inScope = (await openScope?.()) ?? NO_SCOPE;
      await inScope(() => this.#commit(fence, graphId, { status }));
    } catch (error) {
      throw toCallerError(error);
    }
  }

  async #find(scope: Scope, threadId: string): Promise<StoredThread> {
    const thread = await this.#options.threads.findWithoutState(scope, threadId);
    if (!thread) throw new NotFoundError(`Thread with ID ${threadId} not found`);
    return thread;
  }

  async #write(thread: WritableThread, update: Update, keyed?: KeyedUpdate): Promise<StateUpdateResult> {
    try {
      const graphId = requireGraph(thread);
      const fence = await this.#options.engine.beginStateUpdate(thread.threadId);
      const written = await this.#applyUpdate(fence, graphId, update, keyed);
      const state = await this.#commit(fence, graphId, { bound: keyed && { request: keyed.request, answer: written } });
      await this.#options.onUpdated(fence, toWireState(state));
      return written;
    } catch (error) {
      const callerError = toCallerError(error);
      if (keyed && !keyed.mayBeWritten) await this.#options.keys.release(keyed.request).catch(() => undefined);
      throw callerError;
    }
  }

  /** Returns the checkpoint of the update, also when an earlier attempt wrote it and came no further. */
  async #applyUpdate(fence: Fence, graphId: string, update: Update, keyed?: KeyedUpdate): Promise<StateUpdateResult> {
    const { threadId } = fence;
    const { host, backends, checkpoints } = this.#options;
    const earlier = keyed?.mayBeWritten && (await checkpoints.findMarked(threadId, keyed.mark));
    if (earlier) return toUpdateResult(earlier);
    const request = { ...(await this.#graphOf(threadId, graphId)), ...update };
    if (keyed) keyed.mayBeWritten = true;
    try {
      return (await host.updateState(request, backends(fence, keyed?.mark))) as unknown as StateUpdateResult;
    } catch (error) {
      const callerError = toCallerError(error);
      if (keyed && isRefusal(callerError)) keyed.mayBeWritten = false;
      throw callerError;
    }
  }

  /**
   * Makes the newest checkpoint the state of the thread. Without a status the state decides it; null keeps the
   * thread's.
   */
  async #commit(
    fence: Fence,
    graphId: string,
    { status, bound }: { status?: 'idle' | null; bound?: BoundKey | undefined },
  ): Promise<ThreadState> {
    const state = await this.#newest(fence.threadId, graphId);
    const derived: ThreadStatus = state.next.length > 0 ? 'interrupted' : 'idle';
    const update = { fence, ...storedState(state), status: status === undefined ? derived : status };
    await this.#options.engine.commitStateUpdate(update, bound);
    return state;
  }

  async #newest(threadId: string, graphId: string): Promise<ThreadState> {
    const request = await this.#graphOf(threadId, graphId);
    return (await this.#options.host.getState(request, this.#options.backends())) as ThreadState;
  }

  /** Returns the graph of a thread as its last run had it. */
  async #graphOf(threadId: string, graphId: string) {
    return { graphId, threadId, config: await this.#options.configurationOf(threadId, graphId) };
  }
}

function requireGraph(thread: WritableThread): string {
  const graphId = graphOf(thread);
  if (graphId !== undefined) return graphId;
  throw new BadRequestError(
    `Thread '${thread.threadId}' has no assigned graph ID. Run it once, or create it with metadata.graph_id, before writing state.`,
  );
}

function graphOf(thread: WritableThread): string | undefined {
  const { graph_id } = thread.metadata;
  return typeof graph_id === 'string' && graph_id !== '' ? graph_id : undefined;
}

/** A request that may be repeated. */
interface KeyedUpdate {
  request: KeyedRequest;
  mark: string;
  /** True when a checkpoint of it may exist. The key stays claimed then, until a repeated request has looked. */
  mayBeWritten: boolean;
}

/** Returns a mark that identifies the caller, the key and the request, and reveals none of them. */
function markOf({ id, digest }: KeyedRequest): string {
  return Buffer.concat([id, digest]).toString('base64url');
}

/**
 * Returns whether the graph or the database refused, so that nothing was written. A caller who lost the thread may have
 * written before.
 */
function isRefusal(callerError: unknown): boolean {
  return callerError instanceof AppError && callerError.status < 500 && !(callerError instanceof ConflictError);
}

function toUpdateResult({ threadId, namespace, checkpointId }: CheckpointKey): StateUpdateResult {
  const checkpoint = { checkpoint_id: checkpointId, thread_id: threadId, checkpoint_ns: namespace };
  return { checkpoint, configurable: checkpoint, checkpoint_id: checkpointId };
}
