import type { Bench } from './bench.ts';
import type { Language } from './probe-project.ts';

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
  /** The tier from which on it is also run with graphs in Python. Default: none. */
  pythonTier?: Tier;
  /** Minutes after which the goal counts as hanging. Default 10. */
  limitMinutes?: number;
  /** Injects its faults and calls `bench.measure`. Throws when the goal cannot be judged. */
  run(bench: Bench): Promise<void>;
}

/** Returns whether a goal belongs to what a tier runs with graphs in this language. */
export function isOfTier({ isFast = false, pythonTier }: Goal, tier: Tier, language: Language): boolean {
  if (language === 'javascript') return tier === 'full' || isFast;
  return pythonTier !== undefined && (tier === 'full' || pythonTier === 'fast');
}
