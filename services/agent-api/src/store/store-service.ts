import type { StoreBackend, StoredItem, StoreOperation } from '@runyard/checkpointer';
import type {
  Item,
  StoreDeleteRequest,
  StoreListNamespacesRequest,
  StorePutRequest,
  StoreSearchRequest,
} from '@runyard/contracts';
import { BadRequestError, UnprocessableError } from '@runyard/service-kit';
import { toWireTime } from '../wire-time.ts';
import { checkLabels, itemNamespace } from './namespace.ts';

const OPERATORS = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte']);

/** The store as clients see it; graphs use the same items through LangGraph's own interface. */
export class StoreService {
  readonly #store: StoreBackend;

  constructor(store: StoreBackend) {
    this.#store = store;
  }

  /** @throws BadRequestError, UnprocessableError */
  async put({ namespace, key, value, index }: StorePutRequest): Promise<void> {
    const which = index === null || index === undefined ? {} : { index };
    await this.#one({ kind: 'put', namespace: itemNamespace(namespace), key, value, ...which });
  }

  /** Null when there is no such item. @throws BadRequestError, UnprocessableError */
  async get(namespace: string[] | undefined, key: string | undefined): Promise<Item | null> {
    if (key === undefined) throw new BadRequestError('Key is required');
    if (namespace === undefined) throw new UnprocessableError('Query parameter namespace is required');
    const item = (await this.#one({ kind: 'get', namespace: checkLabels(namespace), key })) as StoredItem | null;
    return item && toWireItem(item);
  }

  /** @throws BadRequestError, UnprocessableError */
  async delete({ namespace, key }: StoreDeleteRequest): Promise<void> {
    await this.#one({ kind: 'put', namespace: itemNamespace(namespace), key, value: null });
  }

  /** @throws UnprocessableError */
  async search(request: StoreSearchRequest): Promise<(Item & { score: number | null })[]> {
    const items = await this.#one({
      kind: 'search',
      namespacePrefix: checkLabels(request.namespace_prefix ?? []),
      ...(request.filter && { filter: checkFilter(request.filter) }),
      limit: request.limit ?? 10,
      offset: request.offset ?? 0,
      ...(request.query && { query: request.query }),
    });
    return (items as StoredItem[]).map((item) => ({ ...toWireItem(item), score: item.score ?? null }));
  }

  /** @throws UnprocessableError */
  async listNamespaces(request: StoreListNamespacesRequest): Promise<string[][]> {
    const namespaces = await this.#one({
      kind: 'listNamespaces',
      ...(request.prefix && { prefix: checkLabels(request.prefix) }),
      ...(request.suffix && { suffix: checkLabels(request.suffix) }),
      ...(request.max_depth && { maxDepth: request.max_depth }),
      limit: request.limit ?? 100,
      offset: request.offset ?? 0,
    });
    return namespaces as string[][];
  }

  async #one(operation: StoreOperation): Promise<unknown> {
    const [result] = await this.#store.batch([operation]);
    return result;
  }
}

/** A filter value is a plain value, or an object of operators; an unknown operator would silently match anything. */
function checkFilter(filter: Record<string, unknown>): Record<string, unknown> {
  for (const [field, condition] of Object.entries(filter)) {
    if (condition === null || typeof condition !== 'object' || Array.isArray(condition)) continue;
    const unknown = Object.keys(condition).find((key) => key.startsWith('$') && !OPERATORS.has(key));
    if (unknown) {
      throw new UnprocessableError(
        `filter.${field} has an unknown operator ${unknown}; known are ${[...OPERATORS].join(', ')}`,
      );
    }
  }
  return filter;
}

function toWireItem({ namespace, key, value, createdAt, updatedAt }: StoredItem): Item {
  return {
    namespace,
    key,
    value,
    created_at: toWireTime(new Date(createdAt)),
    updated_at: toWireTime(new Date(updatedAt)),
  };
}
