import type { Platform } from '../harness/platform.ts';

/** A rule of a kit, and whether the platform follows it. */
export interface Check {
  /** The kit's own name for it, the same in each run. */
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  /** The kit's explanation of a failure. */
  detail: string;
}

/** A public kit of checks that others wrote. */
export interface Kit {
  /** The name for `--only`. */
  name: string;
  /** The failures that are no fault of the platform, by the names of their checks, each with the reason. */
  knownFailures: Readonly<Record<string, string>>;
  /** Runs all checks against a platform. Throws if the kit cannot be had, or ends without a result. */
  run(platform: Platform, sources: KitSources): Promise<Check[]>;
}

/** The address or folder of repositories that kits are cloned from, by flag; kits know the public ones. */
export type KitSources = Readonly<Record<'a2a-tck', string | undefined>>;
