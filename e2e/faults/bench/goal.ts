import type { Bench } from './bench.ts';

export type Tier = 'fast' | 'full';

/** Something that is promised, and how it is put to the test. */
export interface Goal {
  /** As in the table of goals: `R1`. */
  id: string;
  /** The promise, in one sentence. */
  title: string;
  /** Also shown, smaller, with every change. */
  isFast?: boolean;
  /** Says nothing without a release before this one. */
  needsPrevious?: boolean;
  /** After this the goal counts as hanging. Default 10. */
  limitMinutes?: number;
  /** Does its worst and calls `bench.measure`. Throws when the goal cannot be judged. */
  run(bench: Bench): Promise<void>;
}
