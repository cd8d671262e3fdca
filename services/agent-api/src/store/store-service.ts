import type { OpenedStore, StoredItem, StoreOperation } from '@runyard/checkpointer';
import type {
  Item,
  StoreDeleteRequest,
  StoreListNamespacesRequest,
  StorePutRequest,
  StoreSearchRequest,
} from '@runyard/contracts';
import { BadRequestError, ForbiddenError, UnprocessableError } from '@runyard/service-kit';
import { isInScope, type Scope } from '../access/scope.ts';
import type { ListRoom } from '../http/list-room.ts';
import { toWireTime } from '../http/wire-time.ts';
import { checkFilter } from './filter.ts';
import { checkLabels, requireItemNamespace } from './namespace.ts';

export interface ItemQuery {
  namespace: string[] | undefined;
  key: string | undefined;
  refreshTtl: boolean | undefined;
}

/** Serves the store to clients; graphs use the same items through LangGraph's own interface. */
export class StoreService {
  readonly #store: OpenedStore;
  readonly #room: ListRoom;

  constructor(store: OpenedStore, room: ListRoom) {
    this.#store = store;
    this.#room = room;
  }

  /** @throws BadRequestError, UnprocessableError, ForbiddenError, NotFoundError, BadGatewayError */
  async put(scope: Scope, { namespace, key, value, index, ttl }: StorePutRequest): Promise<void> {
    const address = { namespace: requireItemNamespace(namespace), key };
    if (!isInScope({ ...value, ...address }, scope)) {
      throw new ForbiddenError('Not authorized', { code: 'store_namespace_forbidden' });
    }
    await this.#runOne({
      kind: 'put',
      scope,
      ...address,
      value,
      ...(index !== null && index !== undefined && { index }),
      ...(ttl !== null && ttl !== undefined && { ttlMinutes: ttl }),
    });
  }

  /** Returns null when there is no such item. @throws BadRequestError, UnprocessableError */
  async get(scope: Scope, { namespace, key, refreshTtl }: ItemQuery): Promise<Item | null> {
    if (key === undefined) throw new BadRequestError('Key is required');
    if (namespace === undefined) throw new UnprocessableError('Query parameter namespace is required');
    const found = await this.#runOne({
      kind: 'get',
      scope,
      namespace: checkLabels(namespace),
      key,
      ...(refreshTtl !== undefined && { refreshTtl }),
    });
    const item = found as StoredItem | null;
    return item && toWireItem(item);
  }

  /** @throws BadRequestError, UnprocessableError */
  async delete(scope: Scope, { namespace, key }: StoreDeleteRequest): Promise<void> {
    await this.#runOne({ kind: 'put', scope, namespace: requireItemNamespace(namespace), key, value: null });
  }

  /** Returns items, which have room until the signal. @throws UnprocessableError, BadGatewayError, PayloadTooLargeError */
  async search(
    scope: Scope,
    request: StoreSearchRequest,
    until: AbortSignal,
  ): Promise<(Item & { score: number | null })[]> {
    const read = await this.#store.prepareSearch({
      kind: 'search',
      scope,
      namespacePrefix: checkLabels(request.namespace_prefix ?? []),
      ...(request.filter && { filter: checkFilter(request.filter) }),
      limit: request.limit ?? 10,
      offset: request.offset ?? 0,
      ...(request.query && { query: request.query }),
      ...(typeof request.refresh_ttl === 'boolean' && { refreshTtl: request.refresh_ttl }),
    });
    const { rows } = await this.#room.readWhole(until, read);
    return rows.map((item) => ({ ...toWireItem(item), score: item.score ?? null }));
  }

  /** @throws UnprocessableError */
  async listNamespaces(scope: Scope, request: StoreListNamespacesRequest): Promise<string[][]> {
    const namespaces = await this.#runOne({
      kind: 'listNamespaces',
      scope,
      ...(request.prefix && { prefix: checkLabels(request.prefix) }),
      ...(request.suffix && { suffix: checkLabels(request.suffix) }),
      ...(request.max_depth && { maxDepth: request.max_depth }),
      limit: request.limit ?? 100,
      offset: request.offset ?? 0,
    });
    return namespaces as string[][];
  }

  async #runOne(operation: StoreOperation): Promise<unknown> {
    const [result] = await this.#store.batch([operation]);
    return result;
  }
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
