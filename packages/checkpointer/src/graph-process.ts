/**
 * What a process that runs graphs needs of the checkpointer, and nothing that a database needs: that process starts at every
 * deploy and restart, and each package it loads is time somebody waits.
 */
export * from './backend.ts';
export type { CheckpointModule } from './checkpoint-module.ts';
export { createSaver, type SaverOptions } from './saver/create-saver.ts';
export type { RevivableModules } from './saver/revival.ts';
export { createStore } from './store/create-store.ts';
