import type { Project } from './read-project.ts';

/** How long a deployment keeps threads, from `checkpointer.ttl`. */
export interface ThreadRetentionSettings {
  /** Of threads that are created without a ttl of their own; undefined: they are kept. */
  defaultTtl: { strategy: 'delete' | 'keep_latest'; minutes: number } | undefined;
  sweepEveryMs: number;
  /** Threads of one sweep at most. */
  sweepLimit: number;
}

/** A thread may have a ttl of its own, so there are sweeps without the section too. */
export function threadRetentionSettings({ checkpointer }: Pick<Project, 'checkpointer'>): ThreadRetentionSettings {
  const { strategy = 'delete', default_ttl, sweep_interval_minutes = 5, sweep_limit = 1000 } = checkpointer?.ttl ?? {};
  return {
    defaultTtl: default_ttl === undefined || default_ttl === null ? undefined : { strategy, minutes: default_ttl },
    sweepEveryMs: sweep_interval_minutes * 60_000,
    sweepLimit: sweep_limit,
  };
}
