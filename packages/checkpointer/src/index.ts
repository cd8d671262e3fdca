/**
 * LangGraph's checkpoint saver and store.
 *
 * - `createSaver`, `createStore`: the project's own LangGraph classes over any backend; used where graphs run.
 * - `PostgresCheckpoints`, `PostgresStore`: the backends over a deployment's database; fenced and group-committed.
 * - `CheckpointBackend`, `StoreBackend`: the byte-level operations between the two.
 *
 * `@runyard/checkpointer/graph-process` is the part without a database.
 */
export { missingKeyOf } from './encryption/encryption-failure.ts';
export * from './graph-process.ts';
export { LARGE_STATE_BYTES, mayOverloadDatabase } from './postgres/backend-errors.ts';
export { PostgresCheckpoints } from './postgres/postgres-checkpoints.ts';
export {
  type OpenedStore,
  PostgresStore,
  type StoreTtl,
} from './postgres/postgres-store.ts';
export type { Embed, StoreIndex } from './postgres/store/item-vectors.ts';
export { installVectorExtension } from './postgres/store/vector-extension.ts';
export { parseTextPath } from './store/text-paths.ts';
