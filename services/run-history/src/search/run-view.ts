import type { JournalRun, JournalRunDetail, RunUsage } from '@runyard/contracts';
import type { StoredAttempt, StoredRun } from '../runs/stored-run.ts';
import { addUsage, NOTHING_USED } from '../usage/attempt-usage.ts';

/** Returns a run as callers see it. */
export function toJournalRun(run: StoredRun): JournalRun {
  const { workspace_id: _, error_class, error_message, creator_kind, creator, creator_key_id, ...rest } = run;
  const { model_calls, tool_calls, input_tokens, output_tokens, ...shown } = rest;
  return {
    ...shown,
    status: run.status as JournalRun['status'],
    error: error_class === null ? null : { error: error_class, message: error_message ?? '' },
    creator: creator_kind === null ? null : { kind: creator_kind, identity: creator ?? '', key_id: creator_key_id },
    usage: usageOf({ model_calls, tool_calls, input_tokens, output_tokens }),
  };
}

type Counts = Pick<StoredRun, 'model_calls' | 'tool_calls' | 'input_tokens' | 'output_tokens'>;

function usageOf({ model_calls, tool_calls, input_tokens, output_tokens }: Counts): JournalRun['usage'] {
  if (model_calls === null) return null;
  const [input, output] = [input_tokens ?? 0, output_tokens ?? 0];
  return {
    model_calls,
    tool_calls: tool_calls ?? 0,
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
  };
}

/** Returns a run with its attempts: the first start and the last end are in its own row. */
export function toRunDetail(
  run: StoredRun,
  stored: readonly StoredAttempt[],
  usage: readonly RunUsage[],
): JournalRunDetail {
  const known = new Map<number, KnownAttempt>(stored.map((each) => [each.attempt, each]));
  const inRow = run.attempt > 0 ? [1, run.attempt] : [];
  for (const attempt of inRow) known.set(attempt, known.get(attempt) ?? newAttempt(attempt));
  const used = usage.reduce(addUsage, NOTHING_USED);
  const attempts = [...known.values()].sort((one, other) => one.attempt - other.attempt);
  return { ...toJournalRun(run), attempts: attempts.map((each) => toAttempt(run, each)), ...used };
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
