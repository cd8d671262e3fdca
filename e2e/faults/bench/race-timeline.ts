import type { Race } from './cancel-races.ts';
import type { StatusChange } from './database-audit.ts';
import type { LedgerEntry } from './ledger.ts';

/** A fault of a worker process that the bench caused, in milliseconds since 1970. */
export interface WorkerFault {
  pid: number;
  at: number;
  what: 'killed' | 'frozen';
}

/**
 * Formats all that is known of one race in the order it happened, in seconds before and after the order was answered.
 */
export function formatTimeline(
  { kind, runId, orderedAt, visibleMs }: Race,
  changes: readonly StatusChange[],
  executed: readonly LedgerEntry[],
  faults: readonly WorkerFault[],
): string {
  const begunAt = Math.min(...changes.map(({ at }) => at.getTime()));
  const events = [
    ...changes.map(({ from, to, attempt, at }) => ({
      at: at.getTime(),
      what: `${from ?? 'new'} → ${to ?? 'deleted'} (attempt ${attempt})`,
    })),
    ...executed.map(({ step, what, worker, at }) => ({ at, what: `worker ${worker}: step ${step} ${what}` })),
    ...faults
      .filter(({ at }) => at >= begunAt && at <= orderedAt + visibleMs)
      .map(({ pid, at, what }) => ({ at, what: `worker ${pid} ${what}` })),
    { at: orderedAt, what: 'order answered' },
    { at: orderedAt + visibleMs, what: 'end visible' },
  ];
  const lines = events
    .sort((a, b) => a.at - b.at)
    .map(({ at, what }) => `    ${((at - orderedAt) / 1_000).toFixed(2)} s: ${what}`);
  return [`${runId} (${kind})`, ...lines].join('\n');
}
