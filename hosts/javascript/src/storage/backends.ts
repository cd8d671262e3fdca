/** Implements the checkpoints and the store of one use of a graph by requests to the parent. */
import {
  BackendError,
  type ChannelHistory,
  type CheckpointBackend,
  type CheckpointKey,
  type CheckpointPut,
  type CheckpointQuery,
  type StoreBackend,
  type StoredCheckpoint,
  type StoreOperation,
  type StoreResult,
  type WritesPut,
} from '@runyard/checkpointer/graph-process';
import {
  type Answer,
  type HistoryDocument,
  type HostConnection,
  packPut,
  packWrites,
  RemoteError,
  type RequestHeader,
  type StoredDocument,
  StreamPositionSlot,
  unpackHistories,
  unpackStored,
} from '@runyard/host-protocol/graph-process';
import { areAsking, withoutGivenAnswers } from './interrupt-answers.ts';
import { putCheckpoint } from './put-checkpoint.ts';

/**
 * The number of checkpoints that a run may be ahead of storage. With a smaller one, a fast graph waits for each commit.
 * With a larger one, more work is repeated when the worker stalls or loses its connection.
 */
const PUTS_AHEAD_MAX = 4;

const REASONS: ReadonlySet<string> = new Set([
  'fenced',
  'unavailable',
  'unreadable',
  'too_large',
  'invalid',
  'embedding_failed',
  'encryption_failed',
  'not_found',
  'storage_failed',
]);

export interface RemoteCheckpointsOptions {
  /**
   * Receives the error of a put that failed after it resolved. With it, a put resolves once it is sent, in order,
   * unless too many are not durable yet; without it, a put resolves when it is durable. LangGraph sends the next put
   * only when the last one has resolved. Waiting for each commit would make a run slower by one commit per step, and
   * its events would look the same as those of the checkpoint before.
   */
  onPutFailed?: (error: Error) => void;
  /** A thread without checkpoints: the first read of its newest one is answered at once. */
  newThreadId?: string;
  /** Called before each put is sent. */
  beforePut?: () => void;
  /** Returns how far the run's stream is. Every put and write carries what it returns when it is sent. */
  streamPosition?: () => number;
  /** Keeps the newest checkpoint of the root graph in memory, for `readPutNext`. */
  keepsNewest?: boolean;
}

export class RemoteCheckpoints implements CheckpointBackend {
  readonly #connection: HostConnection;
  readonly #use: number;
  readonly #options: RemoteCheckpointsOptions;
  /** The newest checkpoint of the root graph that this use read or wrote. */
  lastRootCheckpointId: string | null = null;
  /** True when a checkpoint of the root graph that this use read or wrote to asked something. */
  mayAsk = false;
  /** The checkpoint of the root graph that was read or put last; undefined also when it is not known. */
  #newest: StoredCheckpoint | undefined;
  #newestIsPut = false;
  /** Checkpoints that were read before the graph asks for them. */
  readonly #readAhead = new Map<string, StoredCheckpoint | undefined>();
  readonly #inFlight = new Set<Promise<unknown>>();
  /** The last puts, durable or not. */
  readonly #puts: Promise<unknown>[] = [];

  constructor(connection: HostConnection, use: number, options: RemoteCheckpointsOptions = {}) {
    this.#connection = connection;
    this.#use = use;
    this.#options = options;
    if (options.newThreadId !== undefined) this.#readAhead.set(placeOf(options.newThreadId, ''), undefined);
  }

  async get(threadId: string, namespace: string, checkpointId?: string): Promise<StoredCheckpoint | undefined> {
    const place = placeOf(threadId, namespace, checkpointId);
    const isAhead = this.#readAhead.has(place);
    const stored = isAhead ? this.#readAhead.get(place) : await this.#get(threadId, namespace, checkpointId);
    this.#readAhead.delete(place);
    if (namespace === '') {
      if (this.#options.keepsNewest) this.#newest = stored;
      this.#newestIsPut = false;
      this.lastRootCheckpointId ??= stored?.key.checkpointId ?? null;
      this.mayAsk ||= areAsking(stored?.pendingWrites ?? []);
    }
    return stored && withoutGivenAnswers(stored);
  }

  /**
   * Reads a checkpoint of the root graph with all that is stored at it. The next read of it gets the same answer,
   * unless something is written before.
   */
  async readAhead(threadId: string, checkpointId?: string): Promise<StoredCheckpoint | undefined> {
    const place = placeOf(threadId, '', checkpointId);
    if (!this.#readAhead.has(place)) this.#readAhead.set(place, await this.#get(threadId, '', checkpointId));
    return this.#readAhead.get(place);
  }

  /**
   * Has the next read of the newest checkpoint answered with the one that was put last, without asking storage.
   *
   * @returns false when it is not known whole; the read asks storage then
   */
  readPutNext(threadId: string): boolean {
    if (!this.#newestIsPut || this.#newest === undefined) return false;
    this.#readAhead.set(placeOf(threadId, ''), this.#newest);
    return true;
  }

  async #get(threadId: string, namespace: string, checkpointId?: string): Promise<StoredCheckpoint | undefined> {
    await this.waitForWrites();
    const answer = await this.#ask({ t: 'checkpoint.get', threadId, namespace, checkpointId });
    return unpackStored(answer.ok as StoredDocument[], answer.raw)[0];
  }

  async list(query: CheckpointQuery): Promise<StoredCheckpoint[]> {
    await this.waitForWrites();
    const answer = await this.#ask({ t: 'checkpoint.list', query });
    return unpackStored(answer.ok as StoredDocument[], answer.raw).map(withoutGivenAnswers);
  }

  async put(put: CheckpointPut): Promise<void> {
    this.#options.beforePut?.();
    this.#readAhead.clear();
    const { document, parts } = packPut(put, this.#positionSlot());
    if (put.key.namespace === '') this.lastRootCheckpointId = put.key.checkpointId;
    const committed = this.#track(this.#ask({ t: 'checkpoint.put', put: document }, parts));
    const { onPutFailed } = this.#options;
    if (!onPutFailed) {
      await committed;
      if (this.#options.keepsNewest && put.key.namespace === '') this.#rememberPut(put);
      return;
    }
    committed.catch(onPutFailed);
    this.#puts.push(committed);
    if (this.#puts.length > PUTS_AHEAD_MAX) await this.#puts.shift()?.catch(() => undefined);
  }

  async channelHistories(key: CheckpointKey, channels: string[]): Promise<ChannelHistory[]> {
    await this.waitForWrites();
    const answer = await this.#ask({ t: 'checkpoint.channelHistories', key, channels });
    return unpackHistories(answer.ok as HistoryDocument[], answer.raw);
  }

  /** Resolves when every write has been answered, with success or an error. */
  async waitForWrites(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
  }

  async putWrites(put: WritesPut): Promise<void> {
    this.#readAhead.clear();
    if (put.key.namespace === '') this.mayAsk ||= areAsking(put.writes);
    if (put.key.checkpointId === this.#newest?.key.checkpointId) this.#newestIsPut = false;
    const { document, parts } = packWrites(put, this.#positionSlot());
    await this.#track(this.#ask({ t: 'checkpoint.putWrites', put: document }, parts));
  }

  async deleteThread(threadId: string): Promise<void> {
    await this.#ask({ t: 'checkpoint.deleteThread', threadId });
  }

  /**
   * Makes room for the stream position, which is known at the end of the turn: until then the graph's stream brings the
   * events that belong to the put.
   */
  #positionSlot(): StreamPositionSlot | undefined {
    const { streamPosition } = this.#options;
    if (!streamPosition) return undefined;
    const slot = new StreamPositionSlot();
    this.#connection.beforeFlush(() => slot.fill(streamPosition()));
    return slot;
  }

  #rememberPut(put: CheckpointPut): void {
    this.#newest = putCheckpoint(put, this.#newest);
    this.#newestIsPut = this.#newest !== undefined;
  }

  #track<T>(operation: Promise<T>): Promise<T> {
    this.#inFlight.add(operation);
    const done = () => this.#inFlight.delete(operation);
    operation.then(done, done);
    return operation;
  }

  async #ask(header: RequestHeader, raw?: Uint8Array[]): Promise<Answer> {
    try {
      return await this.#connection.request(this.#use, { ...header, use: this.#use }, raw);
    } catch (error) {
      throw asBackendError(error);
    }
  }
}

export class RemoteStore implements StoreBackend {
  readonly #connection: HostConnection;
  readonly #use: number;

  constructor(connection: HostConnection, use: number) {
    this.#connection = connection;
    this.#use = use;
  }

  async batch(operations: StoreOperation[]): Promise<StoreResult[]> {
    try {
      const answer = await this.#connection.request(this.#use, { t: 'store.batch', use: this.#use, operations });
      return answer.ok as StoreResult[];
    } catch (error) {
      throw asBackendError(error);
    }
  }
}

function placeOf(threadId: string, namespace: string, checkpointId?: string): string {
  return JSON.stringify([threadId, namespace, checkpointId]);
}

function asBackendError(error: unknown): unknown {
  if (!(error instanceof RemoteError)) return error;
  const reason = REASONS.has(error.kind) ? (error.kind as BackendError['reason']) : 'storage_failed';
  return new BackendError(reason, error.message, { cause: error });
}
