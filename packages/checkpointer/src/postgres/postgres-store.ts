import { wasTooMuch } from '@runyard/database';
import type { Fence } from '@runyard/run-engine';
import type pg from 'pg';
import { BackendError, type StoreBackend, type StoreOperation, type StoreResult } from '../backend.ts';
import { backendError } from './backend-errors.ts';
import { deleteExpired, refreshItems } from './store/expiry.ts';
import { type Embed, ItemEmbedder, type StoreIndex } from './store/item-vectors.ts';
import type { ItemRow } from './store/live-items.ts';
import { listNamespaces } from './store/namespaces.ts';
import { checkOperation, isKind, type OperationOf } from './store/operations.ts';
import { searchByMeaning } from './store/semantic-search.ts';
import { putItems } from './store/store-puts.ts';
import { getItems, itemOf, searchItems } from './store/store-reads.ts';
import { vectorSchema } from './store/vector-extension.ts';
import { untilAvailable } from './until-available.ts';

export interface StoreTtl {
  /** Of items whose put names none; null: they never expire. */
  defaultMinutes: number | null;
  /** Whether reading an item starts its time again, unless the read says otherwise. */
  refreshOnRead: boolean;
}

export interface PostgresStoreOptions {
  /** Of the deployment's database. */
  pool: pg.Pool;
  /** Default: items never expire by themselves, and reading refreshes those that do. */
  ttl?: StoreTtl;
  /** Search by meaning. Left out: nothing is embedded, and a query ranks nothing. */
  index?: StoreIndex;
  /** How long a batch is tried again while Postgres cannot be reached. Default: who asked is told at once. */
  retryMs?: number;
}

/** Who uses the store. */
export interface StoreUse {
  /** Of a run: once another attempt owns its thread, its puts are refused (`fenced`). */
  fence?: Fence;
  /** That has happened. */
  onStaleWrite?: () => void;
  /** Asks the project's embeddings. Needed where the store has an index. */
  embed?: Embed;
}

const NO_TTL: StoreTtl = { defaultMinutes: null, refreshOnRead: true };

/** The store of a deployment in Postgres: JSON items in namespaces, shared by all its threads. */
export class PostgresStore {
  readonly #pool: pg.Pool;
  readonly #ttl: StoreTtl;
  readonly #embedder: ItemEmbedder | undefined;
  readonly #retryMs: number;
  #vectorSchema: string | null = null;

  constructor({ pool, ttl = NO_TTL, index, retryMs = 0 }: PostgresStoreOptions) {
    this.#pool = pool;
    this.#retryMs = retryMs;
    this.#ttl = ttl;
    this.#embedder = index && new ItemEmbedder(index);
  }

  open(use: StoreUse = {}): StoreBackend {
    return { batch: (operations) => this.#batch(operations, use) };
  }

  /** Deletes items whose time is over, at most so many, and answers how many. */
  deleteExpired(limit: number): Promise<number> {
    return deleteExpired(this.#pool, limit);
  }

  /** Whether there are vectors that other embeddings made: their items have no rank until they are put again. */
  async hasForeignVectors(): Promise<boolean> {
    const { rowCount } = await this.#pool.query({
      text: 'SELECT 1 FROM store_embedding WHERE space <> $1 LIMIT 1',
      values: [this.#embedder?.space ?? ''],
    });
    return rowCount !== 0;
  }

  /** Reads see the store as it was before the batch; puts are one statement. Nothing is written when a text cannot be embedded. */
  async #batch(operations: StoreOperation[], use: StoreUse): Promise<StoreResult[]> {
    try {
      for (const operation of operations) checkOperation(operation);
      // Safe to repeat: a put that was committed without our hearing of it is put once more.
      return await untilAvailable(this.#retryMs, () => this.#tryBatch(operations, use));
    } catch (error) {
      const refusal = backendError(error);
      if (refusal.reason === 'fenced') use.onStaleWrite?.();
      throw refusal;
    }
  }

  async #tryBatch(operations: StoreOperation[], use: StoreUse): Promise<StoreResult[]> {
    const results = new Map<StoreOperation, StoreResult>();
    await this.#get(operations.filter(isKind('get')), results);
    for (const operation of operations) {
      if (operation.kind === 'search') results.set(operation, await this.#search(operation, use));
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
      if (row) results.set(operation, itemOf(row));
    }
  }

  async #search(operation: OperationOf<'search'>, use: StoreUse): Promise<StoreResult> {
    const { refreshTtl = this.#ttl.refreshOnRead } = operation;
    const rows = await this.#find(operation, use).catch((error) => {
      if (!wasTooMuch(error)) throw error;
      const message = 'The search took too much time or memory: name a narrower namespace.';
      throw new BackendError('too_large', message, { cause: error });
    });
    if (refreshTtl) await refreshItems(this.#pool, rows);
    return rows.map(itemOf);
  }

  async #find(operation: OperationOf<'search'>, use: StoreUse): Promise<ItemRow[]> {
    const { query } = operation;
    if (!query || !this.#embedder) return searchItems(this.#pool, operation);
    return searchByMeaning(this.#pool, {
      operation,
      vector: await this.#embedder.vectorOfQuery(query, embedOf(use)),
      space: this.#embedder.space,
      vectorSchema: await this.#pgvector(),
    });
  }

  /** Of several puts of one item the last counts. */
  async #put(operations: OperationOf<'put'>[], use: StoreUse): Promise<void> {
    if (operations.length === 0) return;
    const last = new Map(operations.map((put) => [JSON.stringify([put.namespace, put.key]), put]));
    const puts = [...last.values()].map((put) => this.#withDefaultTtl(put));
    const vectors = (await this.#embedder?.vectorsOf(puts, embedOf(use))) ?? new Map();
    await putItems(this.#pool, { puts, vectors, space: this.#embedder?.space ?? null, fence: use.fence });
  }

  #withDefaultTtl(put: OperationOf<'put'>): OperationOf<'put'> {
    const { defaultMinutes } = this.#ttl;
    return put.ttlMinutes === undefined && defaultMinutes !== null ? { ...put, ttlMinutes: defaultMinutes } : put;
  }

  /** Looked up until it is there: another process may be installing it. */
  async #pgvector(): Promise<string | null> {
    this.#vectorSchema ??= await vectorSchema(this.#pool);
    return this.#vectorSchema;
  }
}

function embedOf({ embed }: StoreUse): Embed {
  if (embed) return embed;
  throw new BackendError('embedding_failed', 'Nothing here can embed texts.');
}
