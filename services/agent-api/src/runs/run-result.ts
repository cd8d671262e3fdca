import { setTimeout as pause } from 'node:timers/promises';
import { isPoolBusy, isUnavailable, wasTooMuch } from '@runyard/database';
import type { RunRecord } from '@runyard/run-engine';
import { CONTROL_KINDS } from '@runyard/run-stream';
import { type FollowRun, followRun } from '../streams/follow-run.ts';
import { isFailure, parseRunEnd } from '../streams/run-end.ts';
import type { RunResults } from './run-results.ts';

export interface RunResultSources extends Pick<FollowRun, 'streams' | 'watch' | 'ends'> {
  results: Pick<RunResults, 'hold'>;
}

/** JSON text of what `wait` and `join` answer. */
export type RunResult = Uint8Array;

export interface AwaitedRun {
  threadId: string;
  runId: string;
  /** As for following a run: `$` when it may have begun before. */
  afterId?: string;
  isOver?: boolean;
  /** For the client that created the run, who gets what it had come to also when it was rolled back; others get nothing then. */
  isOwn?: boolean;
  /** It has ended and is kept: its stream has nothing to add. */
  isKept?: boolean;
}

/** What a run without values answers: it had none, or it was rolled back or deleted. */
export const NOTHING: RunResult = Buffer.from('{}');
const RETRY_MS = 250;

/**
 * Waits for the end of a run and gives its final values; undefined when the signal came first. `mayRefuse` as for holding a
 * result.
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

/** Resolves when the run has ended, with its result if that went along with its end. */
async function resultInStream(
  sources: RunResultSources,
  run: AwaitedRun,
  signal: AbortSignal,
): Promise<RunResult | undefined> {
  for await (const entry of followRun({ ...sources, ...run, signal })) {
    if (entry.kind !== CONTROL_KINDS.end) continue;
    const { status, values, isRolledBack = false } = parseRunEnd(entry.data);
    if (isRolledBack && !run.isOwn) return NOTHING;
    return values === undefined || isFailure(status) ? undefined : Buffer.from(values);
  }
  return undefined;
}

/** Who has waited for a run waits as well for a database that is away when it ends. Undefined when the signal came first. */
async function onceAvailable<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await read();
    } catch (error) {
      // What was too much for the database once is so again.
      if (wasTooMuch(error) || !(isUnavailable(error) || isPoolBusy(error))) throw error;
    }
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

export function failure(error: string, message: string): RunResult {
  return Buffer.from(JSON.stringify({ __error__: { error, message } }));
}

const FAILURE = Buffer.from('{"__error__":');
const OPENING = '{'.charCodeAt(0);

/**
 * The result in pieces, with feedback URLs under `__feedback__`; of a failure, or one that is no object, just as it is. The
 * result itself is not copied: other answers share it.
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

export function isOver(run: RunRecord): boolean {
  return run.status !== 'pending' && run.status !== 'running';
}
