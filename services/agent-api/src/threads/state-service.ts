import type { CheckpointConfig, ThreadCreate, ThreadState, ThreadStateUpdate } from '@runyard/contracts';
import type { GraphBackends, GraphHost } from '@runyard/graph-host';
import type { Fence, KeyedThread, NewThread, RunEngine } from '@runyard/run-engine';
import { BadRequestError, NotFoundError, sanitizeErrorText } from '@runyard/service-kit';
import type { Scope } from '../scope.ts';
import { toWireTime } from '../wire-time.ts';
import { placeOf } from './checkpoint-place.ts';
import { toCallerError } from './state-errors.ts';
import type { ThreadRecord } from './thread-record.ts';
import type { ThreadStore } from './thread-store.ts';

export interface StateQuery {
  checkpointId?: string | undefined;
  checkpointNs?: string | undefined;
  subgraphs?: boolean;
}

export interface HistoryQuery extends StateQuery {
  limit: number;
  beforeCheckpointId?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
}

export interface StateUpdated {
  checkpoint: CheckpointConfig;
  configurable: CheckpointConfig;
  checkpoint_id: string;
}

/** Storage for one use of a graph: with a fence it may write the fence's thread. */
export type OpenBackends = (fence?: Fence) => GraphBackends;
/** Told of every write of state once it is durable, with the state as it is then. Never rejects. */
export type OnStateUpdated = (fence: Fence, state: ThreadState) => Promise<void>;

/** What writing state needs to know of a thread. */
type WritableThread = Pick<ThreadRecord, 'threadId' | 'metadata'>;
type Supersteps = NonNullable<ThreadCreate['supersteps']>;
type Update = { values?: unknown; asNode?: string };

/** Reads and writes the state of threads through their graphs, which alone understand it. */
export class StateService {
  readonly #threads: Pick<ThreadStore, 'findBare'>;
  readonly #engine: Pick<RunEngine, 'beginStateUpdate' | 'commitStateUpdate' | 'drafts'>;
  readonly #host: Pick<GraphHost, 'getState' | 'getHistory' | 'updateState'>;
  readonly #backends: OpenBackends;
  readonly #onUpdated: OnStateUpdated;

  constructor(options: {
    threads: Pick<ThreadStore, 'findBare'>;
    engine: Pick<RunEngine, 'beginStateUpdate' | 'commitStateUpdate' | 'drafts'>;
    host: Pick<GraphHost, 'getState' | 'getHistory' | 'updateState'>;
    backends: OpenBackends;
    onUpdated: OnStateUpdated;
  }) {
    this.#threads = options.threads;
    this.#engine = options.engine;
    this.#host = options.host;
    this.#backends = options.backends;
    this.#onUpdated = options.onUpdated;
  }

  /** A thread that never ran, or a checkpoint that is not there, has an empty state. @throws NotFoundError */
  async get(scope: Scope, threadId: string, query: StateQuery): Promise<ThreadState> {
    const graphId = graphOf(await this.#find(scope, threadId));
    if (graphId === undefined) return emptyState(threadId, query);
    const request = { graphId, threadId, ...query };
    try {
      const state = (await this.#host.getState(request, this.#backends())) as ThreadState;
      return state.created_at === null ? emptyState(threadId, query) : toWireState(state);
    } catch (error) {
      throw toCallerError(error);
    }
  }

  /** Newest first. @throws NotFoundError */
  async history(scope: Scope, threadId: string, query: HistoryQuery): Promise<ThreadState[]> {
    const graphId = graphOf(await this.#find(scope, threadId));
    if (graphId === undefined || query.limit === 0) return [];
    try {
      const request = { graphId, threadId, ...query };
      const states = (await this.#host.getHistory(request, this.#backends())) as ThreadState[];
      return states.map(toWireState);
    } catch (error) {
      throw toCallerError(error);
    }
  }

  /** @throws NotFoundError, BadRequestError without a graph or for an unknown node, ConflictError while a run is in flight */
  async update(scope: Scope, threadId: string, request: ThreadStateUpdate): Promise<StateUpdated> {
    const thread = await this.#find(scope, threadId);
    return this.#write(
      thread,
      { values: request.values ?? null, ...(request.as_node && { asNode: request.as_node }) },
      placeOf(threadId, { checkpoint_id: request.checkpoint_id, ...request.checkpoint }),
    );
  }

  /**
   * Makes a thread with the state that supersteps build: it is there with all of them, or not at all, wherever this process
   * ends. @throws ConflictError when the id is taken, BadRequestError, UnprocessableError
   */
  async makeThread(
    { threadId, ...thread }: NewThread & { threadId: string },
    supersteps: Supersteps,
    keyed?: KeyedThread,
  ): Promise<void> {
    const { drafts } = this.#engine;
    const fence = await drafts.begin(threadId);
    try {
      const graphId = requireGraph({ threadId, metadata: thread.metadata });
      await this.#host.updateState({ graphId, threadId, supersteps }, this.#backends(fence));
      const state = await this.#newest(threadId, graphId);
      await drafts.complete({ fence, thread, status: 'idle', ...storedState(state) }, keyed);
    } catch (error) {
      // Left to the sweep of rows without a thread when the database is away.
      await drafts.discard(fence).catch(() => undefined);
      throw toCallerError(error);
    }
  }

  /** Takes the newest checkpoint for the state of a thread whose stored values are older. Without a status it keeps its own. */
  async readAnew({ threadId, metadata }: WritableThread, status: 'idle' | null = null): Promise<void> {
    const graphId = graphOf({ threadId, metadata });
    if (graphId === undefined) return;
    const fence = await this.#engine.beginStateUpdate(threadId);
    try {
      await this.#commit(fence, graphId, status);
    } catch (error) {
      throw toCallerError(error);
    }
  }

  async #find(scope: Scope, threadId: string): Promise<ThreadRecord> {
    const thread = await this.#threads.findBare(scope, threadId);
    if (!thread) throw new NotFoundError(`Thread with ID ${threadId} not found`);
    return thread;
  }

  async #write(thread: WritableThread, update: Update, place: StateQuery): Promise<StateUpdated> {
    const { threadId } = thread;
    const graphId = requireGraph(thread);
    const fence = await this.#engine.beginStateUpdate(threadId);
    try {
      const request = { graphId, threadId, ...place, ...update };
      const written = (await this.#host.updateState(request, this.#backends(fence))) as unknown as StateUpdated;
      const state = await this.#commit(fence, graphId);
      await this.#onUpdated(fence, toWireState(state));
      return written;
    } catch (error) {
      throw toCallerError(error);
    }
  }

  /** Makes the newest checkpoint the state of the thread. Without a status it is what the state says; null keeps the thread's. */
  async #commit(fence: Fence, graphId: string, status?: 'idle' | null): Promise<ThreadState> {
    const state = await this.#newest(fence.threadId, graphId);
    await this.#engine.commitStateUpdate({
      fence,
      ...storedState(state),
      status: status === undefined ? (state.next.length > 0 ? 'interrupted' : 'idle') : status,
    });
    return state;
  }

  async #newest(threadId: string, graphId: string): Promise<ThreadState> {
    return (await this.#host.getState({ graphId, threadId }, this.#backends())) as ThreadState;
  }
}

/** A state as it is kept with its thread. */
function storedState(state: ThreadState) {
  return {
    values: toJsonBytes(state.values),
    interrupts: interruptsOf(state),
    checkpointId: String(state.checkpoint_id),
  };
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

function emptyState(threadId: string, { checkpointId, checkpointNs }: StateQuery): ThreadState {
  return {
    values: {},
    next: [],
    tasks: [],
    metadata: null,
    created_at: null,
    checkpoint:
      checkpointId === undefined
        ? null
        : { thread_id: threadId, checkpoint_ns: checkpointNs ?? '', checkpoint_id: checkpointId },
    parent_checkpoint: null,
    interrupts: [],
    checkpoint_id: checkpointId ?? null,
    parent_checkpoint_id: null,
  };
}

/**
 * A state as the graph host tells it, with times as on the wire. Errors of tasks are kept as the graph threw them; who reads
 * them sees no credentials and no inner addresses.
 */
function toWireState(state: ThreadState): ThreadState {
  const tasks = state.tasks.map((task) => ({
    ...task,
    ...(task.error && { error: sanitizeErrorText(task.error) }),
    ...(task.state ? { state: toWireState(task.state as ThreadState) } : {}),
  }));
  const createdAt = state.created_at === null ? Number.NaN : Date.parse(state.created_at);
  return { ...state, tasks, ...(!Number.isNaN(createdAt) && { created_at: toWireTime(new Date(createdAt)) }) };
}

function interruptsOf(state: ThreadState): Uint8Array | null {
  const asking = state.tasks.filter((task) => task.interrupts.length > 0);
  if (asking.length === 0) return null;
  return toJsonBytes(Object.fromEntries(asking.map((task) => [task.id, task.interrupts])));
}

function toJsonBytes(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value ?? null));
}
