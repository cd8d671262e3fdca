import type { Assistant, RunCreateStateful, Thread, ThreadState } from '@runyard/contracts';
import { faultText } from '../../components/fault.tsx';
import { PlatformError } from '../../platform/ask.ts';
import type { ListedCheckpoint } from '../../platform/threads.ts';
import { writersOf } from './checkpoint-tree.ts';

/** The nodes that a run stops before and after; `*` is every node. */
export interface Breakpoints {
  before: '*' | string[];
  after: '*' | string[];
}

/** The choices of a person for a run from a checkpoint. */
export interface RunChoices {
  assistantId: string;
  /** Undefined where the run goes on from the state without one. */
  input: unknown;
  configurable: Record<string, unknown> | undefined;
  breakpoints: Breakpoints;
  /** The fate of a run of the thread that is under way. */
  strategy: 'enqueue' | 'interrupt';
  /** Undefined where the run starts from the newest checkpoint. */
  checkpoint: RunCreateStateful['checkpoint'] | undefined;
}

/** Returns the request for a run that can be watched: with events by tasks and messages. */
export function runRequest(choices: RunChoices): RunCreateStateful {
  const { assistantId, input = null, configurable, breakpoints, strategy, checkpoint } = choices;
  const { before, after } = breakpoints;
  return {
    assistant_id: assistantId,
    input,
    ...(checkpoint && { checkpoint }),
    // The platform mirrors `configurable` into the context of graphs that take one.
    config: { configurable: { ...configurable, __event_streaming_v2: true } },
    ...(before.length > 0 && { interrupt_before: before }),
    ...(after.length > 0 && { interrupt_after: after }),
    multitask_strategy: strategy,
  };
}

/**
 * Returns the assistant for a run from a checkpoint: the one of the run that made it, else the one of the thread, else the
 * default one of the graph. Undefined where none is left.
 */
export function assistantFor(
  assistants: readonly Assistant[],
  state: Pick<ThreadState, 'metadata'>,
  thread: Pick<Thread, 'metadata'> | undefined,
): Assistant | undefined {
  const ids = [state.metadata?.assistant_id, thread?.metadata.assistant_id];
  for (const id of ids) {
    const found = assistants.find(({ assistant_id: each }) => each === id);
    if (found) return found;
  }
  return assistants.find(({ metadata }) => metadata.created_by === 'system') ?? assistants[0];
}

/** Returns the assistants of the graph of a state. */
export function assistantsOf(
  assistants: readonly Assistant[],
  state: Pick<ThreadState, 'metadata'>,
  thread: Pick<Thread, 'metadata'> | undefined,
): Assistant[] {
  const graph = thread?.metadata.graph_id ?? state.metadata?.graph_id;
  return assistants.filter(({ graph_id: each }) => each === graph);
}

/**
 * Returns the node that wrote a checkpoint. `parent` knows it also where nothing was written: its nodes were next.
 *
 * @returns `__start__` for an input, and where nothing is known
 */
export function writerOf(
  state: Pick<ListedCheckpoint, 'metadata'>,
  parent?: Pick<ListedCheckpoint, 'next'> | null,
): string {
  return writersOf(state)[0] ?? parent?.next[0] ?? '__start__';
}

/** Returns the sentence about a request that failed, with what to do where a run is in its way. */
export function explainFailure(error: unknown): string {
  if (error instanceof PlatformError && error.status === 409)
    return `A run of this thread is under way. Wait until it has ended, or cancel it, and try again. (${error.message})`;
  return faultText(error);
}
