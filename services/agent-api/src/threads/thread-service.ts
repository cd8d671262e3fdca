import {
  type Thread,
  type ThreadCountRequest,
  type ThreadCreate,
  type ThreadPatch,
  type ThreadSearchRequest,
  withoutReservedMetadata,
} from '@runyard/contracts';
import { type IdempotencyKeys, type KeyedRequest, KeyTakenError } from '@runyard/idempotency';
import type { DeletedRun, DeletedThread, KeyedThread, RunEngine, ThreadTtl } from '@runyard/run-engine';
import { ConflictError, NotFoundError } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { fieldsOf, isInScope, type Scope, withinScope } from '../access/scope.ts';
import type { Page } from '../http/pagination.ts';
import { extractPath } from './extract-path.ts';
import type { StateService } from './state-service.ts';
import { type StoredThread, toWireThread, ttlOf } from './stored-thread.ts';
import { superstepError } from './superstep-error.ts';
import type { ThreadStore } from './thread-store.ts';
import { requestedTtl } from './ttl-request.ts';

/** Fields of a thread that are stored with its state and may be large. */
const STATE_FIELDS = new Set(['values', 'interrupts']);

const DELETED_AT_ONCE = 4;
const DELETED_PER_PAGE = 200;

export class ThreadService {
  readonly #store: ThreadStore;
  readonly #engine: Pick<RunEngine, 'createThread' | 'deleteThread'>;
  readonly #state: Pick<StateService, 'createThreadWithState'>;
  readonly #keys: Pick<IdempotencyKeys, 'claim' | 'settle' | 'release'>;
  readonly #onDeleted: (threads: DeletedThread[]) => void;
  readonly #onRunsDeleted: (runs: DeletedRun[]) => Promise<void>;
  readonly #defaultTtl: ThreadTtl | undefined;

  constructor(options: {
    store: ThreadStore;
    engine: Pick<RunEngine, 'createThread' | 'deleteThread'>;
    state: Pick<StateService, 'createThreadWithState'>;
    keys: Pick<IdempotencyKeys, 'claim' | 'settle' | 'release'>;
    /** Called when threads were deleted, with their runs: whoever waits for one of them should look. */
    onDeleted: (threads: DeletedThread[]) => void;
    /** Called with deleted runs that were in flight: their watchers and workers have to be notified. */
    onRunsDeleted: (runs: DeletedRun[]) => Promise<void>;
    defaultTtl?: ThreadTtl | undefined;
  }) {
    this.#store = options.store;
    this.#engine = options.engine;
    this.#state = options.state;
    this.#keys = options.keys;
    this.#onDeleted = options.onDeleted;
    this.#onRunsDeleted = options.onRunsDeleted;
    this.#defaultTtl = options.defaultTtl;
  }

  /**
   * Creates a thread; with supersteps all or nothing. One that exists already is answered if it is in the scope of
   * `existing` too. @throws ConflictError, ForbiddenError
   */
  async create(
    scope: Scope,
    request: ThreadCreate,
    { existing: existingScope = scope, keyed }: { existing?: Scope; keyed?: KeyedRequest | undefined } = {},
  ): Promise<Thread> {
    const threadId = request.thread_id ?? uuidv7();
    const requested = {
      ...withoutReservedMetadata(request.metadata ?? {}),
      ...(request.graph_id !== undefined && { graph_id: request.graph_id }),
    };
    const metadata = withinScope(requested, scope);
    const ttl = requestedTtl(request.ttl, this.#defaultTtl);
    const thread = { threadId, metadata, ...(ttl && { ttl }) };
    const acceptsExisting = request.if_exists === 'do_nothing';
    const supersteps = request.supersteps ?? [];
    const bound = keyed && this.#bindKey(scope, threadId, keyed);
    // Supersteps apply only to a thread created here: an existing one keeps its state.
    if (supersteps.length === 0) {
      const ifExists = acceptsExisting ? 'do_nothing' : 'raise';
      const { isNew, ...created } = await this.#engine.createThread({ ...thread, ifExists, existingScope }, bound);
      return isNew ? toWireThread(created) : this.#requireExisting(scope, threadId);
    }
    // Supersteps are slow: a repeated request has to wait meanwhile.
    if (keyed) await this.#keys.claim(keyed);
    try {
      await this.#state.createThreadWithState(thread, supersteps, bound);
    } catch (error) {
      const isTaken = acceptsExisting && error instanceof ConflictError;
      const existing = isTaken ? await this.#store.find(scope, threadId) : undefined;
      if (existing && isInScope(existing.metadata, existingScope)) {
        const answer = toWireThread(existing);
        if (keyed) await this.#keys.settle(keyed, answer);
        return answer;
      }
      if (keyed) await this.#keys.release(keyed);
      throw error instanceof KeyTakenError ? error : superstepError(threadId, error);
    }
    return this.#requireExisting(scope, threadId);
  }

  #bindKey(scope: Scope, threadId: string, request: KeyedRequest): KeyedThread {
    return {
      request,
      answerOf: async (client) => {
        const thread = await this.#store.findInTransaction(client, scope, threadId);
        if (!thread) throw threadExists(threadId);
        return toWireThread(thread);
      },
    };
  }

  async #requireExisting(scope: Scope, threadId: string): Promise<Thread> {
    const thread = await this.#store.find(scope, threadId);
    // The id belongs to a thread that this caller may not see.
    if (!thread) throw threadExists(threadId);
    return toWireThread(thread);
  }

  /** @throws NotFoundError */
  async get(scope: Scope, threadId: string, { withTtl = false } = {}): Promise<Thread> {
    const thread = requireThread(threadId, await this.#store.find(scope, threadId));
    const ttl = withTtl ? ttlOf(thread) : undefined;
    return { ...toWireThread(thread), ...(ttl && { ttl }) };
  }

  /** @throws NotFoundError */
  async patch(scope: Scope, threadId: string, request: ThreadPatch): Promise<void> {
    // The caller can neither give the thread away nor put it upon others.
    const metadata = { ...withoutReservedMetadata(request.metadata ?? {}), ...fieldsOf(scope) };
    const ttl = requestedTtl(request.ttl, this.#defaultTtl);
    if (!(await this.#store.change(scope, threadId, { metadata, ttl }))) throw threadNotFound(threadId);
  }

  /** @throws NotFoundError */
  async delete(scope: Scope, threadId: string): Promise<void> {
    requireThread(threadId, await this.#store.findWithoutState(scope, threadId));
    const { threads, runs } = await this.#engine.deleteThread(threadId);
    // This comes before its events are removed.
    await this.#onRunsDeleted(runs);
    this.#onDeleted(threads);
  }

  /** Deletes all threads with this metadata that the caller may see, several at a time. */
  async deleteMatching(scope: Scope, metadata: Record<string, unknown>): Promise<void> {
    for (;;) {
      const read = new AbortController();
      const ofPage = { metadata, select: ['thread_id' as const], limit: DELETED_PER_PAGE };
      const { rows } = await this.search(scope, ofPage, read.signal).finally(() => read.abort());
      if (rows.length === 0) return;
      const workers = Array.from({ length: DELETED_AT_ONCE }, async () => {
        for (let row = rows.pop(); row?.thread_id !== undefined; row = rows.pop()) {
          await this.delete(scope, row.thread_id).catch(ignoreNotFound);
        }
      });
      await Promise.all(workers);
    }
  }

  /** @param until the signal that the page is not used any more @throws UnprocessableError */
  async search(scope: Scope, request: ThreadSearchRequest, until: AbortSignal): Promise<Page<Partial<Thread>>> {
    const { select, extract } = request;
    const paths = Object.entries(extract ?? {});
    const search = {
      ...request,
      limit: request.limit ?? 10,
      offset: request.offset ?? 0,
      withState:
        !select ||
        select.some((field) => STATE_FIELDS.has(field)) ||
        paths.some(([, path]) => STATE_FIELDS.has(path.split(/[.[]/)[0]!)),
    };
    const page = await this.#store.search(scope, search, until);
    const rows = page.rows.map((row) => {
      const thread = toWireThread(row);
      const shown: Partial<Thread> = select
        ? Object.fromEntries(select.map((field) => [field, thread[field]]))
        : thread;
      if (paths.length === 0) return shown;
      return {
        ...shown,
        extracted: Object.fromEntries(paths.map(([name, path]) => [name, extractPath(thread, path)])),
      };
    });
    return { ...page, rows };
  }

  count(scope: Scope, request: ThreadCountRequest): Promise<number> {
    return this.#store.count(scope, request);
  }
}

function threadExists(threadId: string): ConflictError {
  return new ConflictError(`Thread with ID ${threadId} already exists`, { code: 'thread_exists' });
}

/** Ignores that somebody else deleted a thread first. */
function ignoreNotFound(error: unknown): void {
  if (!(error instanceof NotFoundError)) throw error;
}

export function requireThread(threadId: string, thread: StoredThread | undefined): StoredThread {
  if (!thread) throw threadNotFound(threadId);
  return thread;
}

export function threadNotFound(threadId: string): NotFoundError {
  return new NotFoundError(`Thread with ID ${threadId} not found`);
}
