import { setTimeout as pause } from 'node:timers/promises';
import { isPoolBusy, isTimeoutOrOutOfMemory, isUnavailable } from '@runyard/database';
import type { RunRecord } from '@runyard/run-engine';
import { CONTROL_KINDS } from '@runyard/run-stream';
import { type FollowRunOptions, followRun } from '../streams/follow-run.ts';
import { isFailure, parseRunEnd } from '../streams/run-end.ts';
import type { RunResults } from './run-results.ts';

export interface RunResultSources extends Pick<FollowRunOptions, 'streams' | 'watch' | 'ends'> {
  results: Pick<RunResults, 'hold'>;
}

/** The JSON text that `wait` and `join` answer. */
export type RunResult = Uint8Array;

export interface AwaitedRun {
  threadId: string;
  runId: string;
  /** The position, as in `FollowRunOptions`: `$` when the run may have begun before. */
  afterId?: string;
  isEnded?: boolean;
  /**
   * True when the client created the run: it gets the last values even of a run that was rolled back; others get
   * nothing then.
   */
  isOwn?: boolean;
  /** True when the run has ended and is kept: its stream has nothing to add. */
  isKept?: boolean;
}

/** The answer for a run without values: it had none, or it was rolled back or deleted. */
export const EMPTY_RESULT: RunResult = Buffer.from('{}');
const RETRY_MS = 250;

/**
 * Waits for the end of a run and returns its final values; undefined when the signal came first. `mayRefuse` is passed
 * to `RunResults.hold`.
 */
export async function awaitResult(
  sources: RunResultSources,
  run: AwaitedRun,
  signal: AbortSignal,
  mayRefuse?: () => boolean,
): Promise<RunResult | undefined> {
  const inStream = run.isKept ? undefined : await resultInStream(sources, run, signal);
  return inStream ?? onceAvailable(() => sources.results.hold(run, signal, mayRefuse), signal);
}

/** Resolves when the run has ended, with its result if the end event carries that. */
async function resultInStream(
  sources: RunResultSources,
  run: AwaitedRun,
  signal: AbortSignal,
): Promise<RunResult | undefined> {
  for await (const entry of followRun({ ...sources, ...run, signal })) {
    if (entry.kind !== CONTROL_KINDS.end) continue;
    const { status, values, isRolledBack = false } = parseRunEnd(entry.data);
    if (isRolledBack && !run.isOwn) return EMPTY_RESULT;
    return values === undefined || isFailure(status) ? undefined : Buffer.from(values);
  }
  return undefined;
}

/**
 * Retries while the database is away: a client that has waited for a run also waits for that. Undefined when the signal
 * came first.
 */
export async function onceAvailable<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await read();
    } catch (error) {
      // A result that was too much for the database once will be so again.
      if (isTimeoutOrOutOfMemory(error) || !(isUnavailable(error) || isPoolBusy(error))) throw error;
    }
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

export function errorResult(error: string, message: string): RunResult {
  return Buffer.from(JSON.stringify({ __error__: { error, message } }));
}

const FAILURE = Buffer.from('{"__error__":');
const OPENING = '{'.charCodeAt(0);

/**
 * Returns the result in pieces, with feedback URLs under `__feedback__`; a failure, or a result that is no object, is
 * unchanged. The result itself is not copied: other answers share it.
 */
export function withFeedback(result: RunResult, urls: Record<string, string>): Uint8Array[] {
  if (result[0] !== OPENING || FAILURE.equals(result.subarray(0, FAILURE.byteLength))) return [result];
  const rest = result.subarray(1);
  const separator = isEmptyObject(result) ? '' : ',';
  return [Buffer.from(`{"__feedback__":${JSON.stringify(urls)}${separator}`), rest];
}

function isEmptyObject(result: RunResult): boolean {
  return result.byteLength < 8 && /^\{\s*\}/.test(Buffer.from(result).toString('latin1'));
}

export function isEnded(run: RunRecord): boolean {
  return run.status !== 'pending' && run.status !== 'running';
}
