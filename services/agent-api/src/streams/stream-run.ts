import type { ServerResponse } from 'node:http';
import { CONTROL_KINDS, type StreamGap } from '@runyard/run-stream';
import { type FollowedEntry, type FollowRun, followRun } from './follow-run.ts';
import type { Handover } from './handover.ts';
import { LiveResponse } from './live-response.ts';
import type { OpenResponses } from './open-responses.ts';
import { isFailure, parseRunEnd } from './run-end.ts';
import { formatSseEvent, SSE_HEARTBEAT } from './sse-format.ts';
import { passes } from './stream-filter.ts';

export interface StreamSources extends Pick<FollowRun, 'streams' | 'watch' | 'ends'> {
  open: OpenResponses;
}

export interface StreamedRun {
  threadId: string;
  runId: string;
  /** As for following a run. */
  afterId?: string | undefined;
  isOver?: boolean;
  /** Events carry ids a client can go on from. Left out: as its entries say. */
  isResumable?: boolean;
  /** Undefined: every mode the run emits. */
  modes?: Set<string> | undefined;
  /** Path and query at which somebody who takes the stream over finds the rest; undefined when nobody does. */
  restPath?: string | undefined;
  /** Where the run's readers may say what they think of it; told when it has ended without a failure. */
  feedback?: (() => Record<string, string>) | undefined;
}

/**
 * Sends a run's events until it is over or the client is gone; headers go out at once. True when the client left before the
 * end, and it was not this service that cut the connection.
 */
export async function streamRun(
  sources: StreamSources,
  run: StreamedRun,
  res: ServerResponse,
  headers: Record<string, string>,
): Promise<{ wasAbandoned: boolean }> {
  const response = new LiveResponse(res, headers, { signOfLife: SSE_HEARTBEAT });
  let position = run.afterId;
  let isFirst = true;
  const isCut = sources.open.add(response, {
    isResumable: run.isResumable ?? false,
    rest: () => restOf(run.restPath, position),
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

/** From now on: nothing of what has been is sent. */
export const FROM_NOW_ON = '$';

/** None for a stream of which it is not known where it began. */
export function restOf(path: string | undefined, position: string | undefined): Handover | undefined {
  return path === undefined || position === FROM_NOW_ON ? undefined : { path, afterId: position };
}

function render(entry: FollowedEntry, run: StreamedRun, isWhereItJoined: boolean): string | undefined {
  const isResumable = run.isResumable ?? entry.isResumable;
  const id = isResumable ? entry.id : undefined;
  if (entry.kind === CONTROL_KINDS.gap) {
    // Who joins what cannot be resumed was not promised what is gone; what was lost under way is told to everybody.
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

/** An event stream of one event: what went wrong before there was anything to stream. */
export function streamFailure(
  res: ServerResponse,
  headers: Record<string, string>,
  error: { error: string; message: string },
): void {
  res.writeHead(200, headers).end(formatSseEvent({ event: 'error', data: JSON.stringify(error) }));
}
