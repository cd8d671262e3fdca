import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable, wasTooMuch } from '@runyard/database';
import type { RunEngine, RunRecord } from '@runyard/run-engine';
import { CONTROL_KINDS } from '@runyard/run-stream';
import { type FollowRun, followRun } from '../streams/follow-run.ts';
import { isFailure, parseRunEnd } from '../streams/run-end.ts';

export interface RunResultSources extends Pick<FollowRun, 'streams' | 'watch' | 'ends'> {
  engine: Pick<RunEngine, 'getRun'>;
}

/** JSON text of what `wait` and `join` answer. */
export type RunResult = string | Uint8Array;

const NOTHING = '{}';
const RETRY_MS = 250;

/**
 * Waits for the end of a run and gives its final values; undefined when the signal came first. `afterId` as for following a
 * run: `$` when it may have begun before. `isOwn`: for the client that created the run, who gets what it had come to also when
 * it was rolled back; for everybody else such a run has nothing to show.
 */
export async function awaitResult(
  sources: RunResultSources,
  run: { threadId: string; runId: string; afterId?: string; isOver?: boolean; isOwn?: boolean },
  signal: AbortSignal,
): Promise<RunResult | undefined> {
  for await (const entry of followRun({ ...sources, ...run, signal })) {
    if (entry.kind !== CONTROL_KINDS.end) continue;
    const { status, values, isRolledBack = false } = parseRunEnd(entry.data);
    if (isRolledBack && !run.isOwn) return NOTHING;
    if (values !== undefined && !isFailure(status)) return values;
    break;
  }
  const ended = await onceAvailable(() => sources.engine.getRun(run.threadId, run.runId), signal);
  return signal.aborted ? undefined : resultOf(ended);
}

/** Who has waited for a run waits as well for a database that is away when it ends. Undefined when the signal came first. */
async function onceAvailable<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await read();
    } catch (error) {
      // What was too much for the database once is so again.
      if (!isUnavailable(error) || wasTooMuch(error)) throw error;
    }
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/** The result of a run that is over; a run that was rolled back or deleted has nothing to show. */
export function resultOf(run: RunRecord | undefined): RunResult {
  if (!run) return NOTHING;
  if (isFailure(run.status) && run.error) return failure(run.error.error, run.error.message);
  return run.result ?? NOTHING;
}

export function failure(error: string, message: string): string {
  return JSON.stringify({ __error__: { error, message } });
}

const FAILURE = '{"__error__":';

/** The result with feedback URLs under `__feedback__`; of a failure, or one that is no object, just as it is. */
export function withFeedback(result: RunResult, urls: Record<string, string>): RunResult {
  const text = typeof result === 'string' ? result : Buffer.from(result).toString('utf8');
  if (!text.startsWith('{') || text.startsWith(FAILURE)) return text;
  const rest = text.slice(1);
  return `{"__feedback__":${JSON.stringify(urls)}${rest.trimStart().startsWith('}') ? '' : ','}${rest}`;
}

export function isOver(run: RunRecord): boolean {
  return run.status !== 'pending' && run.status !== 'running';
}
