import { BUILD_QUEUE, BuildJob } from './build.ts';
import { RUN_WAKEUP_QUEUE, RunWakeup } from './run-wakeup.ts';

/** Every work queue and the jobs it carries. */
export const QUEUES = {
  runWakeup: {
    name: RUN_WAKEUP_QUEUE,
    job: RunWakeup,
    sender: 'agent-api',
    receiver: 'run-worker',
  },
  build: {
    name: BUILD_QUEUE,
    job: BuildJob,
    sender: 'control-plane',
    receiver: 'builder',
  },
} as const;

export * from './build.ts';
export * from './run-wakeup.ts';
