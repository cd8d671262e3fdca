export { RunEngine, type RunEngineOptions } from './engine.ts';
export { FencedError } from './errors.ts';
export type { RunQuery } from './runs/read-runs.ts';
export * from './types.ts';
export { RunWakeups, type RunWakeupsOptions } from './wakeups/run-wakeups.ts';
export { WakeupReceiver } from './wakeups/wakeup-receiver.ts';
