import { randomUUID } from 'node:crypto';
import type { CheckpointKey, PostgresCheckpoints } from '@runyard/checkpointer';
import type { CheckpointConfig, ThreadCreate, ThreadState, ThreadStateUpdate } from '@runyard/contracts';
import { NO_SCOPE } from '@runyard/encryption';
import type { GraphBackends, GraphHost } from '@runyard/host-client';
import { type FactoryConfig, GraphRequestError } from '@runyard/host-protocol';
import type { IdempotencyKeys, KeyedRequest } from '@runyard/idempotency';
import {
  type BoundKey,
  type Fence,
  FencedError,
  type KeyedThread,
  type NewThread,
  type OutdatedState,
  type RunEngine,
  type ThreadStatus,
} from '@runyard/run-engine';
import { AppError, BadRequestError, ConflictError, NotFoundError } from '@runyard/service-kit';
import type { Scope } from '../access/scope.ts';
import { toCallerError } from '../errors/graph-errors.ts';
import { type CheckpointPosition, checkpointPositionOf } from './checkpoint-position.ts';
import { emptyState, storedState, toWireState, withParsedTexts } from './state-shapes.ts';
import type { StoredThread } from './stored-thread.ts';
import type { ThreadStore } from './thread-store.ts';

export interface StateQuery extends CheckpointPosition {
  subgraphs?: boolean;
}

export interface HistoryQuery extends StateQuery {
  limit: number;
  beforeCheckpointId?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  /** The keys of the values that are needed; others may be missing. Left out: all. */
  keys?: string[] | undefined;
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
type OpenBackends = (fence?: Fence, mark?: string) => GraphBackends;
/** Called after every write of state once it is durable, with the state as it is then. Never rejects. */
type OnStateUpdated = (fence: Fence, state: ThreadState) => Promise<void>;

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
  checkpoints: Pick<PostgresCheckpoints, 'findMarked' | 'has'>;
  keys: Pick<IdempotencyKeys, 'claim' | 'settle' | 'release'>;
  onUpdated: OnStateUpdated;
  /** Bytes of JSON after which a history has no older state. Left out: any number. */
  historyMaxBytes?: number | undefined;
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
    return withParsedTexts(await this.getUnparsed(scope, threadId, query));
  }

  /** Returns the same with `values` and `metadata.writes` as `JsonText`. @throws NotFoundError */
  async getUnparsed(scope: Scope, threadId: string, query: StateQuery): Promise<ThreadState> {
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
    return (await this.historyUnparsed(scope, threadId, query)).map(withParsedTexts);
  }

  /** Returns the same with `values` and `metadata.writes` as `JsonText`. @throws NotFoundError */
  async historyUnparsed(scope: Scope, threadId: string, query: HistoryQuery): Promise<ThreadState[]> {
    const graphId = graphOf(await this.#find(scope, threadId));
    if (graphId === undefined || query.limit === 0) return [];
    const maxBytes = this.#options.historyMaxBytes;
    try {
      const request = { ...(await this.#graphOf(threadId, graphId)), ...query, maxBytes };
      const states = (await this.#options.host.getHistory(request, this.#options.backends())) as ThreadState[];
      return states.map(toWireState);
    } catch (error) {
      throw toCallerError(error);
    }
  }

  /**
   * Writes to the state, once for a keyed request. @throws NotFoundError, also for an unknown checkpoint,
   * BadRequestError without a graph or for an unknown node, ConflictError while a run is in flight
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
    const mark = keyed ? markOf(keyed) : randomUUID();
    return this.#write(thread, update, { keyed, mark, mayBeWritten: wasClaimed });
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
      const request = { graphId, threadId, supersteps };
      const update = await this.#options.host.updateState(request, this.#options.backends(fence));
      const state = (update.state as ThreadState | undefined) ?? (await this.#newest(threadId, graphId));
      await drafts.complete({ fence, thread, status: 'idle', ...storedState(state) }, keyed);
    } catch (error) {
      // While the database is away this is left to the sweep of rows without a thread.
      await drafts.discard(fence).catch(() => undefined);
      throw toCallerError(error);
    }
  }

  /** Stores the newest checkpoint as the state of a thread whose stored values are older. */
  async refresh({ threadId, metadata, openScope }: OutdatedState, statusOf: StatusRule = keepStatus): Promise<void> {
    const graphId = graphOf({ threadId, metadata });
    if (graphId === undefined) return;
    const fence = await this.#options.engine.beginStateUpdate(threadId);
    try {
      const inScope = (await openScope?.()) ?? NO_SCOPE;
      await inScope(() => this.#commit(fence, graphId, { statusOf }));
    } catch (error) {
      throw toCallerError(error);
    }
  }

  async #find(scope: Scope, threadId: string): Promise<StoredThread> {
    const thread = await this.#options.threads.findWithoutState(scope, threadId);
    if (!thread) throw new NotFoundError(`Thread with ID ${threadId} not found`);
    return thread;
  }

  async #write(thread: WritableThread, update: Update, marked: MarkedUpdate): Promise<StateUpdateResult> {
    const { engine, keys, onUpdated } = this.#options;
    const { keyed } = marked;
    try {
      const graphId = requireGraph(thread);
      const fence = await engine.beginStateUpdate(thread.threadId);
      const { written, state: known } = await this.#applyUpdate(fence, graphId, update, marked);
      const bound = keyed && { request: keyed, answer: written };
      const state = await this.#commit(fence, graphId, { bound, known });
      await onUpdated(fence, toWireState(state));
      return written;
    } catch (error) {
      const taken = isTakenOver(error) ? await this.#findTaken(thread.threadId, marked) : undefined;
      if (taken) return taken;
      if (keyed && !marked.mayBeWritten) await keys.release(keyed).catch(() => undefined);
      throw toCallerError(error);
    }
  }

  /**
   * Returns the checkpoint of the update, also when an earlier attempt wrote it and came no further, and the state that
   * it makes where the graph host knows it.
   */
  async #applyUpdate(
    fence: Fence,
    graphId: string,
    update: Update,
    marked: MarkedUpdate,
  ): Promise<{ written: StateUpdateResult; state?: ThreadState }> {
    const { threadId } = fence;
    const { host, backends, checkpoints } = this.#options;
    const earlier = marked.mayBeWritten && (await checkpoints.findMarked(threadId, marked.mark));
    if (earlier) return { written: toUpdateResult(earlier) };
    const { checkpointId, checkpointNs: namespace = '' } = update;
    if (checkpointId !== undefined && !(await checkpoints.has({ threadId, namespace, checkpointId }))) {
      throw new NotFoundError(`Thread ${threadId} has no checkpoint ${checkpointId}`);
    }
    const request = { ...(await this.#graphOf(threadId, graphId)), ...update };
    marked.mayBeWritten = true;
    try {
      const { written, state } = await host.updateState(request, backends(fence, marked.mark));
      return {
        written: written as unknown as StateUpdateResult,
        ...(state && { state: state as unknown as ThreadState }),
      };
    } catch (error) {
      if (isRefusal(toCallerError(error))) marked.mayBeWritten = false;
      throw error;
    }
  }

  /**
   * Returns the checkpoint of an update whose thread was taken over. Whoever took it over after the checkpoint was
   * written goes on from it, so the update has been made; before that, nothing of it is stored.
   */
  async #findTaken(threadId: string, { mark, keyed }: MarkedUpdate): Promise<StateUpdateResult | undefined> {
    const found = await this.#options.checkpoints.findMarked(threadId, mark);
    if (!found) return undefined;
    const written = toUpdateResult(found);
    // A repeated request finds the checkpoint itself when the answer is not kept.
    if (keyed) await this.#options.keys.settle(keyed, written).catch(() => undefined);
    return written;
  }

  /** Makes the newest checkpoint, whose state may be known, the state of the thread. */
  async #commit(
    fence: Fence,
    graphId: string,
    {
      statusOf = statusByNext,
      bound,
      known,
    }: { statusOf?: StatusRule; bound?: BoundKey | undefined; known?: ThreadState | undefined },
  ): Promise<ThreadState> {
    const state = known ?? (await this.#newest(fence.threadId, graphId));
    const update = { fence, ...storedState(state), status: statusOf(state) };
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

/** Says which status a thread with this state gets; null when it keeps its own. */
type StatusRule = (state: ThreadState) => ThreadStatus | null;

const keepStatus: StatusRule = () => null;
const statusByNext: StatusRule = ({ next }) => (next.length > 0 ? 'interrupted' : 'idle');
/** The status of a thread whose steps were cut short, unless they ask something. */
export const statusByQuestions: StatusRule = ({ interrupts }) => (interrupts.length > 0 ? 'interrupted' : 'idle');

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

interface MarkedUpdate {
  /** Identifies the checkpoint of the update, which is durable before the thread shows it. */
  mark: string;
  /** The request, if it may be repeated. */
  keyed: KeyedRequest | undefined;
  /** True when a checkpoint of it may exist. A key stays claimed then, until a repeated request has looked. */
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

/** Returns whether the thread was taken over, before or after the checkpoint of the update was written. */
function isTakenOver(error: unknown): boolean {
  return error instanceof FencedError || (error instanceof GraphRequestError && error.reason === 'fenced');
}

function toUpdateResult({ threadId, namespace, checkpointId }: CheckpointKey): StateUpdateResult {
  const checkpoint = { checkpoint_id: checkpointId, thread_id: threadId, checkpoint_ns: namespace };
  return { checkpoint, configurable: checkpoint, checkpoint_id: checkpointId };
}
