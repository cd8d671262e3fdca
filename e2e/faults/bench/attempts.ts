import type { LedgerEntry } from './ledger.ts';

/** One attempt of a run, by its own notes. */
export interface Attempt {
  run: string;
  attempt: number;
  worker: number;
  host: number;
  /** Steps in the order in which they began. */
  steps: number[];
  /** Milliseconds since 1970 of its first step and of its last note. */
  firstAt: number;
  lastAt: number;
}

/** Returns the attempts of each run that reached a step, in order. */
export function groupAttempts(byRun: ReadonlyMap<string, LedgerEntry[]>): Map<string, Attempt[]> {
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
