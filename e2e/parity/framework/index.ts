export * from './context.ts';
export * from './parity-case.ts';
export type { WireEvent } from './server-sent-events.ts';
