import type { Bench } from './bench.ts';

export type Tier = 'fast' | 'full';

/** A promise, and the experiment that tests it. */
export interface Goal {
  /** The id in the table of goals, such as `R1`. */
  id: string;
  /** The promise, in one sentence. */
  title: string;
  /** True when a smaller version runs with every change. */
  isFast?: boolean;
  /** True when it says nothing without a release before this one. */
  needsPrevious?: boolean;
  /** True when all its requests can be made by users whom the project's own code knows (`--users`). */
  canHaveUsers?: boolean;
  /** Minutes after which the goal counts as hanging. Default 10. */
  limitMinutes?: number;
  /** Injects its faults and calls `bench.measure`. Throws when the goal cannot be judged. */
  run(bench: Bench): Promise<void>;
}
