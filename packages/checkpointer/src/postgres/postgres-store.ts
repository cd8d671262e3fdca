import { isTimeoutOrOutOfMemory, type SizedRows } from '@runyard/database';
import { type DataCipher, NO_ENCRYPTION } from '@runyard/encryption';
import type { Fence } from '@runyard/run-engine';
import type pg from 'pg';
import { BackendError, type StoreBackend, type StoredItem, type StoreOperation, type StoreResult } from '../backend.ts';
import { toBackendError } from './backend-errors.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import { deleteExpired, refreshItems } from './store/expiry.ts';
import { type Embed, ItemEmbedder, type StoreIndex } from './store/item-vectors.ts';
import type { ItemRow } from './store/live-items.ts';
import { listNamespaces } from './store/namespaces.ts';
import { checkOperation, isKind, type OperationOf } from './store/operations.ts';
import { listNearest } from './store/semantic-search.ts';
import { putItems } from './store/store-puts.ts';
import {
  FoundBytes,
  getItems,
  type ItemList,
  itemOf,
  listNewest,
  readItems,
  readItemsWithin,
} from './store/store-reads.ts';
import { vectorSchema } from './store/vector-extension.ts';

export interface StoreTtl {
  /** The ttl of items whose put names none; null: they never expire. */
  defaultMinutes: number | null;
  /** True when reading an item restarts its ttl, unless the read says otherwise. */
  refreshOnRead: boolean;
}

export interface PostgresStoreOptions {
  /** Pool of the deployment's database. */
  pool: pg.Pool;
  /** Default: items expire only with their own ttl, and reading refreshes it. */
  ttl?: StoreTtl;
  /** Enables semantic search. Without it nothing is embedded, and a query ranks nothing. */
  index?: StoreIndex;
  /** Encrypts chosen keys of items; their texts are embedded before that. Default: no encryption. */
  cipher?: DataCipher;
  /** Milliseconds for which a batch is retried while Postgres is unavailable. Default: it fails at once. */
  retryMs?: number;
}

/** One use of the store. */
export interface StoreAccess {
  /** The fence of a run: its puts are refused once another attempt owns its thread (`fenced`). */
  fence?: Fence;
  /** Is called when a put was refused for that. */
  onStaleWrite?: () => void;
  /** Calls the project's embeddings. Required where the store has an index. */
  embed?: Embed;
}

/** Reads the items of a search, with the bytes that they have; none where those are more than `maxBytes`. */
export type SearchReader = (maxBytes: number) => Promise<SizedRows<StoredItem>>;

export interface OpenedStore extends StoreBackend {
  /** Checks a search and embeds its query, for who decides then how much of it is read. @throws BackendError */
  prepareSearch(operation: OperationOf<'search'>): Promise<SearchReader>;
}

const NO_TTL: StoreTtl = { defaultMinutes: null, refreshOnRead: true };

/** The store of a deployment in Postgres: JSON items in namespaces, shared by all its threads. */
export class PostgresStore {
  readonly #pool: pg.Pool;
  readonly #ttl: StoreTtl;
  readonly #embedder: ItemEmbedder | undefined;
  readonly #retryMs: number;
  readonly #cipher: DataCipher;
  #vectorSchema: string | null = null;

  constructor({ pool, ttl = NO_TTL, index, retryMs = 0, cipher = NO_ENCRYPTION }: PostgresStoreOptions) {
    this.#pool = pool;
    this.#cipher = cipher;
    this.#retryMs = retryMs;
    this.#ttl = ttl;
    this.#embedder = index && new ItemEmbedder(index);
  }

  open(use: StoreAccess = {}): OpenedStore {
    // A graph writes from another process: its items are encrypted as for whoever has opened the store for it.
    const inScope = this.#cipher.currentScope();
    return {
      batch: (operations) => inScope(() => this.#batch(operations, use)),
      prepareSearch: (operation) => inScope(() => this.#prepareSearch(operation, use)),
    };
  }

  /** Deletes at most `limit` expired items, and returns how many. */
  deleteExpired(limit: number): Promise<number> {
    return deleteExpired(this.#pool, limit);
  }

  /** Returns whether there are vectors of other embeddings: their items have no rank until they are put again. */
  async hasForeignVectors(): Promise<boolean> {
    const { rowCount } = await this.#pool.query({
      text: 'SELECT 1 FROM store_embedding WHERE space <> $1 LIMIT 1',
      values: [this.#embedder?.space ?? ''],
    });
    return rowCount !== 0;
  }

  /**
   * Reads see the store as it was before the batch; puts are one statement. Nothing is written when a text cannot be
   * embedded.
   */
  async #batch(operations: StoreOperation[], use: StoreAccess): Promise<StoreResult[]> {
    try {
      for (const operation of operations) await checkOperation(operation, this.#cipher.json);
      // The batch can be repeated: if a put was committed and the answer was lost, it is put once more.
      return await retryWhileUnavailable(this.#retryMs, () => this.#tryBatch(operations, use));
    } catch (error) {
      const refusal = toBackendError(error);
      if (refusal.reason === 'fenced') use.onStaleWrite?.();
      throw refusal;
    }
  }

  async #prepareSearch(operation: OperationOf<'search'>, use: StoreAccess): Promise<SearchReader> {
    try {
      await checkOperation(operation, this.#cipher.json);
      const list = await this.#listOf(operation, use);
      return async (maxBytes) => {
        try {
          const { bytes, rows } = await readItemsWithin(this.#pool, list, maxBytes).catch(refuseWideSearch);
          return { bytes, rows: await this.#found(operation, rows) };
        } catch (error) {
          throw toBackendError(error);
        }
      };
    } catch (error) {
      throw toBackendError(error);
    }
  }

  async #tryBatch(operations: StoreOperation[], use: StoreAccess): Promise<StoreResult[]> {
    const results = new Map<StoreOperation, StoreResult>();
    const found = new FoundBytes();
    await this.#get(operations.filter(isKind('get')), results);
    for (const operation of operations) {
      if (operation.kind === 'search') results.set(operation, await this.#search(operation, use, found));
      if (operation.kind === 'listNamespaces') results.set(operation, await listNamespaces(this.#pool, operation));
    }
    await this.#put(operations.filter(isKind('put')), use);
    return operations.map((operation) => results.get(operation) ?? null);
  }

  async #get(gets: OperationOf<'get'>[], results: Map<StoreOperation, StoreResult>): Promise<void> {
    if (gets.length === 0) return;
    const rows = await getItems(this.#pool, gets);
    const read = gets.flatMap(({ refreshTtl = this.#ttl.refreshOnRead }, index) => (refreshTtl && rows[index]) || []);
    await refreshItems(this.#pool, read);
    for (const [index, operation] of gets.entries()) {
      const row = rows[index];
      if (row) results.set(operation, itemOf(row, this.#cipher.json.decrypt));
    }
  }

  async #search(operation: OperationOf<'search'>, use: StoreAccess, found: FoundBytes): Promise<StoredItem[]> {
    const list = await this.#listOf(operation, use);
    return this.#found(operation, await readItems(this.#pool, list, found).catch(refuseWideSearch));
  }

  async #listOf(operation: OperationOf<'search'>, use: StoreAccess): Promise<ItemList> {
    const { query } = operation;
    if (!query || !this.#embedder) return listNewest(operation);
    return listNearest({
      operation,
      vector: await this.#embedder.vectorOfQuery(query, embedOf(use)),
      space: this.#embedder.space,
      vectorSchema: await this.#pgvector(),
    });
  }

  /** Returns what a search has found, whose expiry begins anew where the search or the store says so. */
  async #found(
    { refreshTtl = this.#ttl.refreshOnRead }: OperationOf<'search'>,
    rows: ItemRow[],
  ): Promise<StoredItem[]> {
    if (refreshTtl) await refreshItems(this.#pool, rows);
    return rows.map((row) => itemOf(row, this.#cipher.json.decryptListed));
  }

  /** Stores puts; of several for one item, only the last. */
  async #put(operations: OperationOf<'put'>[], use: StoreAccess): Promise<void> {
    if (operations.length === 0) return;
    const last = new Map(operations.map((put) => [JSON.stringify([put.namespace, put.key]), put]));
    const puts = [...last.values()].map((put) => this.#withDefaultTtl(put));
    const vectors = (await this.#embedder?.vectorsOf(puts, embedOf(use))) ?? new Map();
    const space = this.#embedder?.space ?? null;
    await putItems(this.#pool, { puts, vectors, space, fence: use.fence, cipher: this.#cipher });
  }

  #withDefaultTtl(put: OperationOf<'put'>): OperationOf<'put'> {
    const { defaultMinutes } = this.#ttl;
    return put.ttlMinutes === undefined && defaultMinutes !== null ? { ...put, ttlMinutes: defaultMinutes } : put;
  }

  /** Looks for the extension until it exists: another process may be installing it. */
  async #pgvector(): Promise<string | null> {
    this.#vectorSchema ??= await vectorSchema(this.#pool);
    return this.#vectorSchema;
  }
}

/** @throws BackendError for a search that the database gave up; any other error as it is */
function refuseWideSearch(error: unknown): never {
  if (!isTimeoutOrOutOfMemory(error)) throw error;
  const message = 'The search took too much time or memory: name a narrower namespace.';
  throw new BackendError('too_large', message, { cause: error });
}

function embedOf({ embed }: StoreAccess): Embed {
  if (embed) return embed;
  throw new BackendError('embedding_failed', 'Nothing here can embed texts.');
}
