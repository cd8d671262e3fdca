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
  const isOver = run.ended_at !== null;
  const attempts = Array.from({ length: run.attempt }, (_, index) => {
    const attempt = index + 1;
    const known = stored.find((each) => each.attempt === attempt);
    const isLast = attempt === run.attempt && known?.outcome == null;
    return {
      attempt,
      started_at: attempt === 1 ? run.started_at : (known?.started_at ?? null),
      ended_at: isLast ? run.ended_at : (known?.ended_at ?? null),
      outcome: isLast ? (isOver ? run.status : null) : (known?.outcome ?? null),
    };
  });
  return { ...toJournalRun(run), attempts };
}
