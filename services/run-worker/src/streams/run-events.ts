import type { RunEvent } from '@runyard/graph-host';
import type { ClaimedRun, ErrorInfo, Fence, FinishRun } from '@runyard/run-engine';
import { type AppendEvent, CONTROL_KINDS } from '@runyard/run-stream';
import { maskErrors } from './mask-errors.ts';

/** Larger final values are read from Postgres by whoever waits for them. */
const INLINE_VALUES_BYTES_MAX = 64 * 1024;

/** Which run, in which attempt, under which fence: what every event of it is marked with. */
export interface StreamedRun {
  runId: string;
  attempt: number;
  fence: Fence;
  isResumable: boolean;
}

export function streamedRun(run: ClaimedRun): StreamedRun {
  return { runId: run.runId, attempt: run.attempt, fence: run.fence, isResumable: run.kwargs.resumable === true };
}

/** The first event of every attempt. */
export function metadataEvent({ runId, attempt }: StreamedRun): AppendEvent {
  return { runId, attempt, kind: 'metadata', event: 'metadata', data: JSON.stringify({ run_id: runId, attempt }) };
}

/** What the graph emitted, as entries of the run's stream. */
export function graphEvents({ runId, attempt }: StreamedRun, events: RunEvent[]): AppendEvent[] {
  return events.map(({ mode, event, data }) => ({ runId, attempt, kind: mode, event, data: maskErrors(mode, data) }));
}

/** How many of these stand for a message that was too large to be delivered. */
export function leftOut(events: RunEvent[]): number {
  return events.filter(({ mode }) => mode === CONTROL_KINDS.gap).length;
}

/** What a failed run tells its readers before it ends. */
export function errorEvent({ runId, attempt }: StreamedRun, { error, message }: ErrorInfo): AppendEvent {
  return { runId, attempt, kind: 'error', event: 'error', data: JSON.stringify({ error, message }) };
}

/**
 * The end of the run as readers are told it; values go along when they are small. They are JSON text already. Of a run that was
 * rolled back they are what its own client had seen last: nothing of it is kept.
 */
export function endEvent(
  { runId, attempt }: StreamedRun,
  status: FinishRun['status'],
  values: Uint8Array | null,
  isRolledBack = false,
): AppendEvent {
  const isInline = values !== null && values.byteLength <= INLINE_VALUES_BYTES_MAX;
  const about = `${isRolledBack ? '"rolled_back":true,' : ''}"status":"${status}"`;
  const data = isInline ? `{${about},"values":${Buffer.from(values).toString('utf8')}}` : `{${about}}`;
  return { runId, attempt, kind: CONTROL_KINDS.end, event: 'end', data };
}
