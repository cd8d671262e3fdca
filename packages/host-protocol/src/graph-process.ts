/**
 * The parts of the protocol for a process that runs a project's code: without the schemas, which are its parent's to
 * check. That process starts at every deploy and restart, and each package that it loads delays the start.
 */
export * from './connection.ts';
export * from './errors.ts';
export * from './loopback-http.ts';
export * from './message-blocks.ts';
export type * from './messages/auth.ts';
export type * from './messages/checkpoints.ts';
export type * from './messages/embeddings.ts';
export type * from './messages/encryption.ts';
export type * from './messages/graphs.ts';
export type * from './messages/messages.ts';
export type * from './messages/process.ts';
export type * from './messages/project.ts';
export type * from './messages/runs.ts';
export type * from './messages/state.ts';
export type { ProjectExport, ValueRef } from './messages/values.ts';
export * from './output-lines.ts';
export * from './protocol-event.ts';
export * from './stream-position.ts';
export * from './ui-bundling.ts';
export * from './usage-limits.ts';
export * from './user-header.ts';
export * from './values.ts';
export * from './vectors.ts';
export * from './versions.ts';
