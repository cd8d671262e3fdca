import type { EncryptionScope } from '@runyard/encryption';
import type { RunEvent } from '@runyard/host-client';
import type { ClaimedRun, ErrorInfo, Fence, FinishRun } from '@runyard/run-engine';
import { type AppendEvent, BEFORE_ALL, CONTROL_KINDS, gapAfter } from '@runyard/run-stream';
import { maskErrors } from './mask-errors.ts';

/**
 * Kinds of entries that the platform alone writes. Readers believe them: a `run.end` of a graph host would tell every
 * client that its run has ended.
 */
const PLATFORM_KINDS: ReadonlySet<string> = new Set(['metadata', 'error', CONTROL_KINDS.end, CONTROL_KINDS.state]);

/** Larger final values are read from Postgres by those who wait for them. */
const INLINE_VALUES_BYTES_MAX = 64 * 1024;

/** The run, attempt and fence that mark every event. */
export interface StreamedAttempt {
  runId: string;
  attempt: number;
  fence: Fence;
  isResumable: boolean;
  /** Its events are appended in it. Default: none. */
  inScope?: EncryptionScope | undefined;
}

export function toStreamedAttempt({ runId, attempt, fence, kwargs, inScope }: ClaimedRun): StreamedAttempt {
  return { runId, attempt, fence, isResumable: kwargs.resumable === true, inScope };
}

/** Returns the first event of every attempt. */
export function metadataEvent({ runId, attempt }: StreamedAttempt): AppendEvent {
  return { runId, attempt, kind: 'metadata', event: 'metadata', data: JSON.stringify({ run_id: runId, attempt }) };
}

/** Returns the event that follows `metadata` when events of an earlier attempt are missing. */
export function lostEventsGap({ runId, attempt }: StreamedAttempt): AppendEvent {
  return { runId, attempt, ...gapAfter(BEFORE_ALL, 'lost') };
}

/**
 * Converts the graph's events to entries of the run's stream. Leaves out those of kinds that the platform alone writes.
 */
export function toAppendEvents({ runId, attempt }: StreamedAttempt, events: RunEvent[]): AppendEvent[] {
  return events
    .filter(({ mode }) => !PLATFORM_KINDS.has(mode))
    .map(({ mode, event, data }) => ({ runId, attempt, kind: mode, event, data: maskErrors(mode, data) }));
}

/** Returns how many of these stand for a message that was too large to be delivered. */
export function countTooLarge(events: RunEvent[]): number {
  return events.filter(({ mode }) => mode === CONTROL_KINDS.gap).length;
}

/** Returns the event that a failed run sends before it ends. */
export function errorEvent({ runId, attempt }: StreamedAttempt, { error, message }: ErrorInfo): AppendEvent {
  return { runId, attempt, kind: 'error', event: 'error', data: JSON.stringify({ error, message }) };
}

/**
 * Returns the end event of the run; values go along when they are small. They are JSON text already. For a run that was
 * rolled back they are the last values for its own client: nothing of it is kept. One that waits for an answer has
 * succeeded as well, and says so.
 */
export function endEvent(
  { runId, attempt }: StreamedAttempt,
  status: FinishRun['status'],
  values: Uint8Array | null,
  { isRolledBack = false, isWaiting = false } = {},
): AppendEvent {
  const isInline = values !== null && values.byteLength <= INLINE_VALUES_BYTES_MAX;
  const flags = `${isRolledBack ? '"rolled_back":true,' : ''}${isWaiting ? '"waits_for_input":true,' : ''}`;
  const about = `${flags}"status":"${status}"`;
  const data = isInline ? `{${about},"values":${Buffer.from(values).toString('utf8')}}` : `{${about}}`;
  return { runId, attempt, kind: CONTROL_KINDS.end, event: 'end', data };
}
