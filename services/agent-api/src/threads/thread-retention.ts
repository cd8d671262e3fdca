import { type Thread, type ThreadPruneRequest, type ThreadStorage, withoutReservedMetadata } from '@runyard/contracts';
import type { IdempotencyKeys, KeyedRequest } from '@runyard/idempotency';
import type { DeletedThread, RunEngine } from '@runyard/run-engine';
import { ConflictError } from '@runyard/service-kit';
import type pg from 'pg';
import { v4 as uuidv4 } from 'uuid';
import { fieldsOf, isInScope, outOfScope, type Scope } from '../access/scope.ts';
import { type StateService, statusByQuestions } from './state-service.ts';
import { toWireThread } from './stored-thread.ts';
import { requireThread, threadNotFound } from './thread-service.ts';
import type { ThreadStore } from './thread-store.ts';

export interface ThreadRetentionOptions {
  store: Pick<ThreadStore, 'find' | 'findWithoutState' | 'findInTransaction' | 'filterVisible'>;
  engine: Pick<RunEngine, 'histories' | 'deleteThread'>;
  keys: Pick<IdempotencyKeys, 'settle' | 'unbind'>;
  state: Pick<StateService, 'refresh'>;
  /** Called when threads were deleted, with their runs. */
  onDeleted: (threads: DeletedThread[]) => void;
}

/** Copies and prunes threads, and reports their storage. */
export class ThreadRetention {
  readonly #options: ThreadRetentionOptions;

  constructor(options: ThreadRetentionOptions) {
    this.#options = options;
  }

  /**
   * Copies a thread in the scope of sources to one in the scope of copies. The copy has the metadata of its source, with
   * these over them.
   *
   * @throws ConflictError when there is nothing to copy, ForbiddenError when the caller could not see the copy,
   *   EncryptionError when it cannot be decrypted
   */
  async copy(
    scopes: { source: Scope; copy: Scope },
    sourceId: string,
    request: { metadata?: Record<string, unknown>; keyed?: KeyedRequest | undefined } = {},
  ): Promise<Thread> {
    const { store, engine, state, keys } = this.#options;
    const { keyed } = request;
    const threadId = uuidv4();
    const answerOf = async (client: pg.ClientBase) =>
      toWireThread(requireThread(threadId, await store.findInTransaction(client, scopes.copy, threadId)));
    const bound = keyed && { request: keyed, answerOf };
    // The state is read too: an undecryptable one is not copied.
    const source = await store.find(scopes.source, sourceId);
    if (!source) throw nothingToCopy(sourceId);
    const metadata = { ...withoutReservedMetadata(request.metadata ?? {}), ...fieldsOf(scopes.copy) };
    if (!isInScope({ ...source.metadata, ...metadata }, scopes.copy)) throw outOfScope();
    const copied = await engine.histories.copy({ sourceId, threadId, metadata }, bound);
    if (!copied) throw nothingToCopy(sourceId);
    if (copied.isStateOutdated) {
      try {
        await state.refresh({ threadId, metadata: source.metadata }, copied.isOfBusy ? statusByQuestions : undefined);
      } catch (error) {
        await engine.deleteThread(threadId);
        if (keyed) await keys.unbind(keyed);
        throw error;
      }
    }
    const copy = toWireThread(requireThread(threadId, await store.find(scopes.copy, threadId)));
    // The key is bound since the copy was made, with its state as it was then.
    if (keyed && copied.isStateOutdated) await keys.settle(keyed, copy);
    return copy;
  }

  /** Returns how many were pruned; threads that are busy, or not the caller's, are left alone. */
  async prune(scope: Scope, { thread_ids, strategy = 'delete' }: ThreadPruneRequest): Promise<number> {
    const { store, engine, onDeleted } = this.#options;
    const visible = await store.filterVisible(scope, thread_ids);
    const { deleted, prunedIds } = await engine.histories.prune(visible, strategy);
    if (deleted.length > 0) onDeleted(deleted);
    return deleted.length + prunedIds.length;
  }

  /** @throws NotFoundError */
  async storage(scope: Scope, threadId: string): Promise<ThreadStorage> {
    const { store, engine } = this.#options;
    requireThread(threadId, await store.findWithoutState(scope, threadId));
    const storage = await engine.histories.measureStorage(threadId);
    if (!storage) throw threadNotFound(threadId);
    const { checkpoints, channelValues, pendingWrites } = storage;
    return {
      thread_id: threadId,
      total_bytes: checkpoints.bytes + channelValues.bytes + pendingWrites.bytes,
      checkpoints,
      channel_values: {
        count: channelValues.count,
        bytes: channelValues.bytes,
        by_channel: channelValues.byChannel,
      },
      pending_writes: pendingWrites,
    };
  }
}

function nothingToCopy(threadId: string): ConflictError {
  return new ConflictError(`Thread with ID ${threadId} does not exist and cannot be copied`, {
    code: 'thread_copy_source_missing',
  });
}
