import type { Fence } from '@runyard/run-engine';
import type pg from 'pg';
import type { StoreBackend, StoreOperation, StoreResult } from '../backend.ts';
import { backendError } from './backend-errors.ts';
import { putItems } from './store/store-puts.ts';
import { getItems, listNamespaces, type OperationOf, searchItems } from './store/store-reads.ts';

export interface PostgresStoreOptions {
  /** Of the deployment's database. */
  pool: pg.Pool;
}

/** The store of a deployment in Postgres: JSON items in namespaces, shared by all its threads. */
export class PostgresStore {
  readonly #pool: pg.Pool;

  constructor({ pool }: PostgresStoreOptions) {
    this.#pool = pool;
  }

  /**
   * For a run: once another attempt owns its thread, its puts are refused (`fenced`). Without a fence, for clients that use the
   * store directly.
   */
  forRun(fence?: Fence): StoreBackend {
    return { batch: (operations) => this.#batch(operations, fence) };
  }

  /** Reads see the store as it was before the batch; puts are one transaction. */
  async #batch(operations: StoreOperation[], fence: Fence | undefined): Promise<StoreResult[]> {
    try {
      const results = await this.#read(operations);
      const puts = operations.filter(isKind('put'));
      if (puts.length > 0) await putItems(this.#pool, puts, fence);
      return operations.map((operation) => results.get(operation) ?? null);
    } catch (error) {
      throw backendError(error);
    }
  }

  async #read(operations: StoreOperation[]): Promise<Map<StoreOperation, StoreResult>> {
    const results = new Map<StoreOperation, StoreResult>();
    const gets = operations.filter(isKind('get'));
    const items = gets.length > 0 ? await getItems(this.#pool, gets) : [];
    for (const [index, operation] of gets.entries()) results.set(operation, items[index] ?? null);
    for (const operation of operations) {
      if (operation.kind === 'search') results.set(operation, await searchItems(this.#pool, operation));
      if (operation.kind === 'listNamespaces') results.set(operation, await listNamespaces(this.#pool, operation));
    }
    return results;
  }
}

function isKind<Kind extends StoreOperation['kind']>(kind: Kind) {
  return (operation: StoreOperation): operation is OperationOf<Kind> => operation.kind === kind;
}
