export * from './graph-process.ts';
export { checksAtParent } from './messages/checks.ts';
