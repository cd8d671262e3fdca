export * from './errors.ts';
export { startGraphHost } from './parent/graph-host.ts';
export * from './project/index.ts';
export * from './types.ts';
