import type { BaseStore, Item, Operation, OperationResults, SearchItem } from '@langchain/langgraph-checkpoint';
import type { StoreBackend, StoredItem, StoreOperation, StoreResult } from '../backend.ts';
import type { CheckpointModule } from '../checkpoint-module.ts';
import { mergePaths } from './merge-paths.ts';

type StoreClass = new (backend: StoreBackend) => BaseStore;

const classes = new WeakMap<object, StoreClass>();

/** Creates a store of the project's own LangGraph over any backend. */
export function createStore(module: Pick<CheckpointModule, 'BaseStore'>, backend: StoreBackend): BaseStore {
  let Store = classes.get(module.BaseStore);
  if (!Store) {
    Store = storeClass(module);
    classes.set(module.BaseStore, Store);
  }
  return new Store(backend);
}

function storeClass({ BaseStore }: Pick<CheckpointModule, 'BaseStore'>): StoreClass {
  return class RunyardStore extends BaseStore {
    readonly #backend: StoreBackend;

    constructor(backend: StoreBackend) {
      super();
      this.#backend = backend;
    }

    override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
      const plain = operations.map(plainOperation);
      const asked = plain.filter((operation) => operation !== undefined);
      const answers = asked.length > 0 ? await this.#backend.batch(asked) : [];
      let next = 0;
      return plain.map((operation) =>
        operation === undefined ? [] : resultOf(operation, answers[next++] ?? null),
      ) as OperationResults<Op>;
    }

    /** Keeps the backend out of `JSON.stringify` of a config. */
    toJSON(): string {
      return '[RunyardStore]';
    }
  };
}

/** Returns undefined for a listing whose conditions exclude each other. */
function plainOperation(operation: Operation): StoreOperation | undefined {
  if ('namespacePrefix' in operation) {
    const { namespacePrefix, filter, limit, offset, query } = operation;
    return { kind: 'search', namespacePrefix, filter, limit, offset, query };
  }
  if ('value' in operation) {
    const { namespace, key, value, index } = operation;
    return { kind: 'put', namespace, key, value: value ?? null, index };
  }
  if ('key' in operation) return { kind: 'get', namespace: operation.namespace, key: operation.key };
  const { matchConditions = [], maxDepth, limit, offset } = operation;
  const paths = (type: 'prefix' | 'suffix') =>
    matchConditions.filter(({ matchType }) => matchType === type).map(({ path }) => path);
  const prefix = mergePaths(paths('prefix'), 'start');
  const suffix = mergePaths(paths('suffix'), 'end');
  if (prefix === 'impossible' || suffix === 'impossible') return undefined;
  return { kind: 'listNamespaces', prefix, suffix, maxDepth, limit, offset };
}

function resultOf(operation: StoreOperation, result: StoreResult): unknown {
  switch (operation.kind) {
    case 'put':
      return undefined;
    case 'get':
      return result && itemOf(result as StoredItem);
    case 'search':
      return (result as StoredItem[]).map((item): SearchItem => ({ ...itemOf(item), score: item.score }));
    case 'listNamespaces':
      return result;
  }
}

function itemOf({ namespace, key, value, createdAt, updatedAt }: StoredItem): Item {
  return { namespace, key, value, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) };
}
