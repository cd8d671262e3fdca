import type { ErrorInfo, RunEngine } from '@runyard/run-engine';
import { onceAvailable } from '../../runs/run-result.ts';
import type { RunResults } from '../../runs/run-results.ts';
import { isFailure } from '../../streams/run-end.ts';
import { type Interrupt, interruptsIn } from './questions.ts';

/** The end of a call's run. */
export type CallEnd =
  | { kind: 'done'; values: unknown }
  /** The graph waits for answers. */
  | { kind: 'asks'; values: unknown; interrupts: Interrupt[] }
  | { kind: 'failed'; error: Pick<ErrorInfo, 'error' | 'message'> }
  | { kind: 'cancelled' }
  /** The run was deleted. */
  | { kind: 'deleted' };

export interface CallEndSources {
  engine: Pick<RunEngine, 'readOutcome'>;
  results: Pick<RunResults, 'hold'>;
}

/**
 * Reads the end of a run that has ended, as its stream says; undefined when the signal came first. Throws when the run is
 * in flight all the same: its thread must not be deleted as that of a call that is over.
 */
export async function readCallEnd(
  { engine, results }: CallEndSources,
  run: { threadId: string; runId: string },
  signal: AbortSignal,
): Promise<CallEnd | undefined> {
  const outcome = await onceAvailable(() => engine.readOutcome(run, 0), signal);
  if (signal.aborted) return undefined;
  if (!outcome) return { kind: 'deleted' };
  const { status, error } = outcome;
  if (status === 'pending' || status === 'running')
    throw new Error(`Run ${run.runId} is in flight after its end event.`);
  if (status === 'interrupted') return { kind: 'cancelled' };
  if (isFailure(status)) return { kind: 'failed', error: error ?? { error: 'Error', message: 'The run failed' } };
  const result = await onceAvailable(() => results.hold(run, signal), signal);
  return result && endWith(JSON.parse(Buffer.from(result).toString()));
}

export function endWith(values: unknown): CallEnd {
  const interrupts = interruptsIn(values);
  return interrupts.length > 0 ? { kind: 'asks', values, interrupts } : { kind: 'done', values };
}
