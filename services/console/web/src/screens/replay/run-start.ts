import type { Run } from '@runyard/contracts';
import type { RunCheckpoint } from '../../platform/replay.ts';

/** The state that a run began with. `lost`: it is not there any more. `unclear`: it was empty, or is lost. */
export type RunStart = { type: 'empty' } | { type: 'checkpoint'; id: string } | { type: 'lost' } | { type: 'unclear' };

/** LangGraph gives this step to the first input of a thread. */
const FIRST_STEP = -1;

/**
 * Returns the checkpoints that a run itself has made, from the newest to the first, each the parent of the one before.
 * Updates of people carry the id of the run whose state they changed, and are not of it.
 *
 * @param checkpoints with the id of the run, newest first
 */
export function ownCheckpoints(checkpoints: readonly RunCheckpoint[]): RunCheckpoint[] {
  const made = checkpoints.filter(({ metadata }) => metadata?.source === 'input' || metadata?.source === 'loop');
  const byId = new Map(made.map((checkpoint) => [checkpoint.checkpoint_id, checkpoint]));
  const own: RunCheckpoint[] = [];
  for (let next = made[0]; next && own.length <= made.length; next = byId.get(next.parent_checkpoint_id))
    own.push(next);
  return own;
}

/** Returns what a run began with, by its own checkpoints; undefined where it has made none. */
export function startOf({ kwargs }: Run, own: readonly RunCheckpoint[]): RunStart | undefined {
  const first = own.at(-1);
  if (!first) return undefined;
  if (first.parent_checkpoint_id) return { type: 'checkpoint', id: first.parent_checkpoint_id };
  const { source, step } = first.metadata ?? {};
  if (source === 'input' && step === FIRST_STEP) return { type: 'empty' };
  // A run that keeps its end only has no checkpoint of its input.
  return { type: kwargs.durability === 'exit' ? 'unclear' : 'lost' };
}

/**
 * Returns what a run began with that has made no checkpoint, such as one that failed at once. Nothing else writes to a
 * thread while it runs, so that is the newest checkpoint from before its end, unless the run names one.
 *
 * @param history of the whole thread, newest first
 */
export function startWithoutCheckpoints(run: Run, history: readonly RunCheckpoint[]): RunStart {
  const named = configurableOf(run).checkpoint_id;
  if (typeof named === 'string') return { type: 'checkpoint', id: named };
  const endedAt = Date.parse(run.updated_at);
  const before = history.find(({ created_at: at }) => at !== null && Date.parse(at) <= endedAt);
  if (before?.checkpoint_id) return { type: 'checkpoint', id: before.checkpoint_id };
  const oldest = history.at(-1);
  if (!oldest || isFirstOfThread(oldest)) return { type: 'empty' };
  return { type: 'lost' };
}

function isFirstOfThread({ parent_checkpoint_id: parent, metadata }: RunCheckpoint): boolean {
  return !parent && metadata?.source === 'input' && metadata.step === FIRST_STEP;
}

export function configurableOf({ kwargs }: Run): Record<string, unknown> {
  const config = kwargs.config as { configurable?: Record<string, unknown> } | null | undefined;
  return config?.configurable ?? {};
}
