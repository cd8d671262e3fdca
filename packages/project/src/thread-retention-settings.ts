import type { Project } from './read-project.ts';

/** The times for which a deployment keeps threads, from `checkpointer.ttl`. */
export interface ThreadRetentionSettings {
  /** The ttl of threads created without their own; undefined when they are kept for ever. */
  defaultTtl: { strategy: 'delete' | 'keep_latest'; minutes: number } | undefined;
  sweepEveryMs: number;
  /** Maximum number of threads per sweep. */
  sweepLimit: number;
}

/** Sweeps run without the section too, because a thread may have its own ttl. */
export function threadRetentionSettings({ checkpointer }: Pick<Project, 'checkpointer'>): ThreadRetentionSettings {
  const { strategy = 'delete', default_ttl, sweep_interval_minutes = 5, sweep_limit = 1000 } = checkpointer?.ttl ?? {};
  return {
    defaultTtl: default_ttl === undefined || default_ttl === null ? undefined : { strategy, minutes: default_ttl },
    sweepEveryMs: sweep_interval_minutes * 60_000,
    sweepLimit: sweep_limit,
  };
}
