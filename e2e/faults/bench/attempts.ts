import type { LedgerEntry } from './ledger.ts';

/** One attempt of a run, as its own notes tell it. */
export interface Attempt {
  run: string;
  attempt: number;
  worker: number;
  host: number;
  /** Steps in the order they were begun. */
  steps: number[];
  /** Milliseconds since 1970: when it began its first step, and when it was heard of for the last time. */
  firstAt: number;
  lastAt: number;
}

/** The attempts of each run that got as far as a step, in order. */
export function attemptsByRun(byRun: ReadonlyMap<string, LedgerEntry[]>): Map<string, Attempt[]> {
  const result = new Map<string, Attempt[]>();
  for (const [run, entries] of byRun) {
    const attempts = new Map<number, Attempt>();
    for (const { attempt, worker, host, step, what, at } of entries) {
      const known = attempts.get(attempt) ?? { run, attempt, worker, host, steps: [], firstAt: at, lastAt: at };
      attempts.set(attempt, known);
      if (what === 'begun') known.steps.push(step);
      known.lastAt = Math.max(known.lastAt, at);
    }
    result.set(
      run,
      [...attempts.values()].sort((a, b) => a.attempt - b.attempt),
    );
  }
  return result;
}
