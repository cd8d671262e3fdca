import type { ServerResponse } from 'node:http';
import { CONTROL_KINDS, type StreamGap } from '@runyard/run-stream';
import { type Continuation, formatSseEvent, LiveResponse, SSE_HEARTBEAT } from '@runyard/service-kit';
import { type FollowedEntry, type FollowRunOptions, followRun } from './follow-run.ts';
import type { OpenResponses } from './open-responses.ts';
import { isFailure, parseRunEnd } from './run-end.ts';
import { passes } from './stream-filter.ts';

export interface StreamSources extends Pick<FollowRunOptions, 'streams' | 'watch' | 'ends'> {
  open: OpenResponses;
}

export interface RunEventsOptions {
  threadId: string;
  runId: string;
  /** The position, as in `FollowRunOptions`. */
  afterId?: string | undefined;
  isEnded?: boolean;
  /** True when events carry ids that a client can resume from. Left out: the entries decide. */
  isResumable?: boolean;
  /** The modes to send; undefined for every mode the run emits. */
  modes?: Set<string> | undefined;
  /** Path and query of the continuation; undefined when nobody takes the stream over. */
  continuationPath?: string | undefined;
  /** Returns the feedback URLs, which are sent when the run has ended without a failure. */
  feedback?: (() => Record<string, string>) | undefined;
}

/**
 * Sends a run's events until it has ended or the client has disconnected; headers go out at once. `wasAbandoned` is
 * true when the client left before the end, and this service did not cut the connection.
 */
export async function sendRunEvents(
  sources: StreamSources,
  run: RunEventsOptions,
  res: ServerResponse,
  headers: Record<string, string>,
): Promise<{ wasAbandoned: boolean }> {
  const response = new LiveResponse(res, headers, { heartbeat: SSE_HEARTBEAT });
  let position = run.afterId;
  let isFirst = true;
  const isCut = sources.open.add(response, {
    isResumable: run.isResumable ?? false,
    continuation: () => continuationAt(run.continuationPath, position),
  });
  for await (const entry of followRun({ ...sources, ...run, signal: response.closed })) {
    position = entry.id ?? position;
    const text = render(entry, run, isFirst && run.afterId !== undefined);
    isFirst = false;
    if (text === undefined) continue;
    const caughtUp = response.write(text);
    if (caughtUp) await caughtUp;
  }
  const wasAbandoned = response.wasAbandoned && !isCut();
  response.end();
  return { wasAbandoned };
}

/** The position from now on: earlier events are not sent. */
export const FROM_NOW_ON = '$';

/** Returns no continuation for a stream whose starting position is unknown. */
export function continuationAt(path: string | undefined, position: string | undefined): Continuation | undefined {
  return path === undefined || position === FROM_NOW_ON ? undefined : { path, afterId: position };
}

function render(entry: FollowedEntry, run: RunEventsOptions, isWhereItJoined: boolean): string | undefined {
  const isResumable = run.isResumable ?? entry.isResumable;
  const id = isResumable ? entry.id : undefined;
  if (entry.kind === CONTROL_KINDS.gap) {
    // A client that joined a stream without resumability was not promised expired events; a loss since then is reported
    // to everybody.
    const { reason } = JSON.parse(entry.data) as StreamGap;
    if (!isResumable && reason === 'expired' && isWhereItJoined) return undefined;
    return formatSseEvent({ event: 'gap', data: entry.data, id });
  }
  if (entry.kind === CONTROL_KINDS.end) {
    if (!run.feedback || run.modes || isFailure(parseRunEnd(entry.data).status)) return undefined;
    return formatSseEvent({ event: 'feedback', data: JSON.stringify(run.feedback()), id });
  }
  if (!passes(entry, run.modes)) return undefined;
  return formatSseEvent({ event: entry.event, data: entry.data, id });
}

/** Sends an event stream of one event: the failure before there was anything to stream. */
export function sendFailureEvent(
  res: ServerResponse,
  headers: Record<string, string>,
  error: { error: string; message: string },
): void {
  res.writeHead(200, headers).end(formatSseEvent({ event: 'error', data: JSON.stringify(error) }));
}
