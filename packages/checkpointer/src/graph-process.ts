/**
 * The parts of the checkpointer for a process that runs graphs, without those that need a database. That process starts
 * at every deploy and restart, and each package that it loads delays the start.
 */
export * from './backend.ts';
export type { CheckpointModule } from './checkpoint-module.ts';
export { metadataJsonOf } from './metadata-json.ts';
export { createSaver, type SaverOptions } from './saver/create-saver.ts';
export { createStore } from './store/create-store.ts';
