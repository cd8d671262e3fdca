import { RUN_WAKEUP_QUEUE, RunWakeup } from './run-wakeup.ts';

/** Every work queue and the jobs it carries. */
export const QUEUES = {
  runWakeup: {
    name: RUN_WAKEUP_QUEUE,
    job: RunWakeup,
    sender: 'agent-api',
    receiver: 'run-worker',
  },
} as const;

export * from './run-wakeup.ts';
