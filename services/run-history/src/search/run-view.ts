import type { JournalRun, JournalRunDetail } from '@runyard/contracts';
import type { StoredAttempt, StoredRun } from '../runs/stored-run.ts';

/** Returns a run as callers see it. */
export function toJournalRun(run: StoredRun): JournalRun {
  const { workspace_id: _, error_class, error_message, creator_kind, creator, creator_key_id, ...shown } = run;
  return {
    ...shown,
    status: run.status as JournalRun['status'],
    error: error_class === null ? null : { error: error_class, message: error_message ?? '' },
    creator: creator_kind === null ? null : { kind: creator_kind, identity: creator ?? '', key_id: creator_key_id },
  };
}

/** Returns a run with its attempts: the first start and the last end are in its own row. */
export function toRunDetail(run: StoredRun, stored: readonly StoredAttempt[]): JournalRunDetail {
  const known = new Map<number, KnownAttempt>(stored.map((each) => [each.attempt, each]));
  const inRow = run.attempt > 0 ? [1, run.attempt] : [];
  for (const attempt of inRow) known.set(attempt, known.get(attempt) ?? newAttempt(attempt));
  const attempts = [...known.values()].sort((one, other) => one.attempt - other.attempt);
  return { ...toJournalRun(run), attempts: attempts.map((each) => toAttempt(run, each)) };
}

type KnownAttempt = Omit<StoredAttempt, 'run_id'>;

function newAttempt(attempt: number): KnownAttempt {
  return { attempt, started_at: null, ended_at: null, outcome: null };
}

function toAttempt(run: StoredRun, { attempt, started_at, ended_at, outcome }: KnownAttempt) {
  const isLast = attempt === run.attempt && outcome === null;
  return {
    attempt,
    started_at: attempt === 1 ? run.started_at : started_at,
    ended_at: isLast ? run.ended_at : ended_at,
    outcome: isLast && run.ended_at !== null ? run.status : outcome,
  };
}
