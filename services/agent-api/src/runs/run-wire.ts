import { RUN_FIELDS, type Run, TRACING_PROJECT_KEY } from '@runyard/contracts';
import { undecryptableValue } from '@runyard/encryption';
import type { RunRecord } from '@runyard/run-engine';
import { publicArguments } from '../access/public-arguments.ts';
import { toWireTime } from '../http/wire-time.ts';

export function toWireRun(record: RunRecord): Run {
  return {
    run_id: record.runId,
    thread_id: record.threadId,
    assistant_id: record.assistantId,
    created_at: toWireTime(record.createdAt),
    updated_at: toWireTime(record.updatedAt),
    status: record.status,
    metadata: record.metadata,
    kwargs: record.fault ? undecryptableValue(record.fault) : publicArguments(record.kwargs, record.threadId),
    multitask_strategy: record.multitaskStrategy,
    cancel_reason: record.cancelReason,
    langsmith_session_name: tracingProjectOf(record.kwargs),
  };
}

export function selectRunFields(run: Run, select: string | string[] | undefined): Partial<Run> {
  if (select === undefined) return run;
  const wanted = new Set(Array.isArray(select) ? select : [select]);
  return Object.fromEntries(RUN_FIELDS.filter((field) => wanted.has(field)).map((field) => [field, run[field]]));
}

/** Returns whether one of the selected fields is read from the arguments of a run. */
export function needsKwargs(select: string | string[] | undefined): boolean {
  if (select === undefined) return true;
  return [select].flat().some((field) => field === 'kwargs' || field === 'langsmith_session_name');
}

function tracingProjectOf(kwargs: RunRecord['kwargs']): string | null {
  const { config } = kwargs as { config?: { configurable?: Record<string, unknown> } };
  const project = config?.configurable?.[TRACING_PROJECT_KEY];
  return typeof project === 'string' ? project : null;
}
