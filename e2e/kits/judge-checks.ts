import type { Check } from './kit.ts';

/** The outcome of a kit, with its known failures told apart. */
export interface Verdict {
  passed: number;
  skipped: number;
  /** How many checks failed as known. */
  known: number;
  /** Failures that nobody has explained. */
  unexpected: Check[];
  /** Explained failures that did not fail: their entries have to go. */
  stale: string[];
  /** True for a run as expected. One without a passed check shows nothing. */
  isGood: boolean;
}

/** Compares the checks of a run with the known failures. A name that comes several times has failed if one of them has. */
export function judgeChecks(checks: readonly Check[], knownFailures: Readonly<Record<string, string>>): Verdict {
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  const isKnown = ({ name }: Check) => Object.hasOwn(knownFailures, name);
  const unexpected = failed.filter((check) => !isKnown(check));
  const stale = Object.keys(knownFailures).filter((known) => !failed.some(({ name }) => name === known));
  const count = (outcome: Check['outcome']) => checks.filter((check) => check.outcome === outcome).length;
  const passed = count('passed');
  return {
    passed,
    skipped: count('skipped'),
    known: failed.length - unexpected.length,
    unexpected,
    stale,
    isGood: passed > 0 && unexpected.length === 0 && stale.length === 0,
  };
}
