import { EVENT_ERROR_CHARACTERS_MAX, EVENT_METADATA_BYTES_MAX, isUuid, type RunEvent } from '@runyard/contracts';
import type { StoredAttempt, StoredRun } from '../runs/stored-run.ts';

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

const INTEGER_MAX = 2 ** 31 - 1;
const TEXT_MAX = 255;

/**
 * Returns the run after one more of its events. Events come in order and at least once: an old one that comes again
 * changes nothing for good, because those behind it come again too, and an end is final. Any of them may be the first
 * that the journal has of the run.
 */
export function applyRunEvent(known: StoredRun | undefined, event: RunEvent, workspaceId: string): StoredRun {
  const run = known ?? newRun(event.data, workspaceId);
  return withDurations({ ...run, ...changeBy(run, event) });
}

/** Returns what an event says of an attempt that has a row of its own; undefined for the usual one and only attempt. */
export function attemptOf(event: RunEvent): StoredAttempt | undefined {
  const { run_id } = event.data;
  if (event.type === 'runyard.run.started' && event.data.attempt > 1) {
    const { attempt } = event.data;
    return { run_id, attempt, started_at: timeOf(event), ended_at: null, outcome: null };
  }
  if (event.type !== 'runyard.run.retried') return undefined;
  const { attempt, reason } = event.data;
  return { run_id, attempt, started_at: null, ended_at: timeOf(event), outcome: reason };
}

function newRun({ deployment_id, run_id, thread_id, assistant_id }: RunEvent['data'], workspaceId: string): StoredRun {
  return {
    run_id: run_id.toLowerCase(),
    workspace_id: workspaceId,
    deployment_id: deployment_id.toLowerCase(),
    thread_id,
    assistant_id,
    graph_id: null,
    revision_id: null,
    cron_id: null,
    status: 'pending',
    attempt: 0,
    created_at: null,
    started_at: null,
    ended_at: null,
    queue_ms: null,
    duration_ms: null,
    error_class: null,
    error_message: null,
    cancel_action: null,
    metadata: null,
    creator_kind: null,
    creator: null,
    creator_key_id: null,
    model_calls: null,
    tool_calls: null,
    input_tokens: null,
    output_tokens: null,
  };
}

function changeBy(run: StoredRun, event: RunEvent): Partial<StoredRun> {
  switch (event.type) {
    case 'runyard.run.created':
      return run.created_at === null ? creationBy(event) : {};
    case 'runyard.run.started':
      return startBy(run, event);
    case 'runyard.run.retried':
      if (event.data.attempt < run.attempt) return {};
      return { attempt: event.data.attempt, ...(run.ended_at === null && { status: 'pending' }) };
    case 'runyard.run.cancelled':
      return { cancel_action: event.data.action };
    case 'runyard.run.used':
      // It is added up, and may come after all others.
      return {};
    case 'runyard.run.finished':
      return run.ended_at === null ? endBy(run, event) : {};
  }
}

function creationBy(event: EventOf<'runyard.run.created'>): Partial<StoredRun> {
  const { graph_id = null, metadata = null, creator } = event.data;
  return {
    created_at: timeOf(event),
    graph_id: graph_id && cut(graph_id),
    metadata: metadata && isSmall(metadata) ? metadata : null,
    cron_id: uuidOrNull(metadata?.cron_id),
    creator_kind: creator ? cut(creator.kind) : null,
    creator: creator?.identity ? cut(creator.identity) : null,
    creator_key_id: creator?.key_id === undefined ? null : cut(creator.key_id),
  };
}

function startBy(run: StoredRun, event: EventOf<'runyard.run.started'>): Partial<StoredRun> {
  const { attempt, revision_id } = event.data;
  const isNewest = attempt >= run.attempt;
  return {
    // A journal that begins within a run does not know when that started.
    started_at: run.started_at ?? (attempt === 1 ? timeOf(event) : null),
    ...(isNewest && { attempt, revision_id: uuidOrNull(revision_id) ?? run.revision_id }),
    ...(isNewest && run.ended_at === null && { status: 'running' }),
  };
}

function endBy(run: StoredRun, event: EventOf<'runyard.run.finished'>): Partial<StoredRun> {
  const { attempt, status, error } = event.data;
  return {
    status,
    attempt: Math.max(run.attempt, attempt),
    ended_at: timeOf(event),
    error_class: error ? cut(error.error) : null,
    error_message: error?.message.slice(0, EVENT_ERROR_CHARACTERS_MAX) ?? null,
  };
}

function withDurations(run: StoredRun): StoredRun {
  return {
    ...run,
    queue_ms: millisecondsBetween(run.created_at, run.started_at),
    duration_ms: millisecondsBetween(run.started_at, run.ended_at),
  };
}

/** The clocks of two machines may differ by more than a short run takes. */
function millisecondsBetween(start: string | null, end: string | null): number | null {
  if (start === null || end === null) return null;
  return Math.min(INTEGER_MAX, Math.max(0, Date.parse(end) - Date.parse(start)));
}

/** Deployments send no larger ones; whoever sends what no deployment does gets no more room. */
function isSmall(metadata: Record<string, unknown>): boolean {
  return Buffer.byteLength(JSON.stringify(metadata)) <= EVENT_METADATA_BYTES_MAX;
}

/** Cuts a text that an index has and that filters name: neither takes a longer one. */
function cut(text: string): string {
  return text.slice(0, TEXT_MAX);
}

/** Returns the time in the one form that the journal has. */
function timeOf(event: RunEvent): string {
  return new Date(event.time).toISOString();
}

function uuidOrNull(value: unknown): string | null {
  return isUuid(value) ? value.toLowerCase() : null;
}
