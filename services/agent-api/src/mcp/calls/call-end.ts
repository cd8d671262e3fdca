import type { ErrorInfo, RunEngine } from '@runyard/run-engine';
import type { ByteBudget } from '@runyard/service-kit';
import { EMPTY_RESULT, onceAvailable, type RunResult } from '../../runs/run-result.ts';
import { SMALL_RESULT_BYTES } from '../../runs/run-results.ts';
import { isFailure } from '../../streams/run-end.ts';
import { type Interrupt, interruptsIn } from './questions.ts';

/** The end of a call's run. */
export type CallEnd =
  | { kind: 'done'; values: unknown }
  /** The graph waits for answers. */
  | { kind: 'asks'; values: unknown; interrupts: Interrupt[] }
  /** Its state, which stays in the thread, is more than an answer can have. */
  | { kind: 'too large'; threadId: string }
  | { kind: 'failed'; error: Pick<ErrorInfo, 'error' | 'message'> }
  | { kind: 'cancelled' }
  /** The run was deleted. */
  | { kind: 'deleted' };

/**
 * Copies of a state that an answer holds while its client reads: as text and as structure, and what it has of media
 * again. There are several more while it is made, which is in one go: of one answer at a time.
 */
export const COPIES = 3;
/**
 * Bytes of a state that can be answered. As text each of them may be two, and clients read an answer into one text, of
 * which V8 takes 512 Mi characters.
 */
export const STATE_BYTES_MAX = 128 * 1024 * 1024;

export interface CallEndSources {
  engine: Pick<RunEngine, 'readOutcome'>;
  /** Bytes of all large results that answers of this process hold. */
  budget: ByteBudget;
}

/**
 * Reads the end of a run that has ended, as its stream says. A large state is read when there is room for it, which it
 * has until the signal; undefined when that came first. Throws when the run is in flight all the same: its thread must
 * not be deleted as that of a call that is over.
 */
export async function readCallEnd(
  sources: CallEndSources,
  run: { threadId: string; runId: string },
  closed: AbortSignal,
): Promise<CallEnd | undefined> {
  const outcome = await onceAvailable(() => sources.engine.readOutcome(run, SMALL_RESULT_BYTES), closed);
  if (closed.aborted) return undefined;
  if (!outcome) return { kind: 'deleted' };
  const { status, error, values, valuesBytes } = outcome;
  if (status === 'pending' || status === 'running')
    throw new Error(`Run ${run.runId} is in flight after its end event.`);
  if (status === 'interrupted') return { kind: 'cancelled' };
  if (isFailure(status)) return { kind: 'failed', error: error ?? { error: 'Error', message: 'The run failed' } };
  if (valuesBytes > STATE_BYTES_MAX) return { kind: 'too large', threadId: run.threadId };
  const isWhole = values !== null || valuesBytes === 0;
  const result = isWhole ? (values ?? EMPTY_RESULT) : await readLarge(sources, run, valuesBytes, closed);
  return result && endWith(JSON.parse(Buffer.from(result).toString()));
}

async function readLarge(
  { engine, budget }: CallEndSources,
  run: { threadId: string; runId: string },
  bytes: number,
  closed: AbortSignal,
): Promise<RunResult | undefined> {
  if (!(await budget.hold(bytes * COPIES, closed))) return undefined;
  const outcome = await onceAvailable(() => engine.readOutcome(run), closed);
  return closed.aborted ? undefined : (outcome?.values ?? EMPTY_RESULT);
}

export function endWith(values: unknown): CallEnd {
  const interrupts = interruptsIn(values);
  return interrupts.length > 0 ? { kind: 'asks', values, interrupts } : { kind: 'done', values };
}
