import type { ThreadState } from '@runyard/contracts';
import { diffJson } from '../../components/json-diff.ts';
import { createThread, readCheckpoint } from '../../platform/replay.ts';
import { copyThread, createRun, deleteThread, readThreadState, type ThreadPlace } from '../../platform/threads.ts';
import { writerOf } from '../thread/run-request.ts';
import type { ReplayPlan } from './plan-replay.ts';
import { type ShadowChoices, shadowRequest } from './shadow-request.ts';

/** The thread and the run of a shadow. */
export interface Shadow {
  deploymentId: string;
  threadId: string;
  runId: string;
}

/**
 * Returns whether a run can be replayed in another deployment: it began with nothing, or with an input on a thread where
 * nothing else was to come.
 */
export function canMove({ run, start, checkpoint }: Pick<ReplayPlan, 'run' | 'start' | 'checkpoint'>): boolean {
  if (start.type === 'empty') return true;
  return checkpoint?.next.length === 0 && run.kwargs.command == null && run.kwargs.input != null;
}

/**
 * Makes a shadow of a run: on a copy of its thread, or on a new one in another deployment. A thread without its run is not
 * left behind.
 *
 * @param deploymentId of the shadow: another one takes only runs that can be moved
 * @throws PlatformError; Error where another deployment makes another state of the one that the run began with
 */
export async function startShadow(
  plan: ReplayPlan,
  choices: ShadowChoices,
  deploymentId = plan.place.deploymentId,
): Promise<Shadow> {
  const { place, run, start } = plan;
  const { workspaceId } = place;
  const isCopy = start.type === 'checkpoint' && deploymentId === place.deploymentId;
  const { thread_id: threadId } = isCopy ? await copyThread(place) : await newThread(plan, deploymentId);
  const shadow = { workspaceId, deploymentId, threadId };
  try {
    if (!isCopy) await expectState(plan, shadow);
    const from = isCopy ? plan : { ...plan, start: { type: 'empty' } as const };
    const { run_id: runId } = await createRun(shadow, shadowRequest(run, from, choices));
    return { deploymentId, threadId, runId };
  } catch (error) {
    await deleteThread(shadow).catch(() => {});
    throw error;
  }
}

/** Makes a thread with the state that the run began with, written as the node that wrote it. */
async function newThread(plan: ReplayPlan, deploymentId: string) {
  const { place, run, checkpoint } = plan;
  const inDeployment = { workspaceId: place.workspaceId, deploymentId };
  const metadata = { replay_of: run.run_id };
  if (!checkpoint) return createThread(inDeployment, { metadata });
  const parentId = checkpoint.parent_checkpoint_id;
  const [{ values }, parent] = await Promise.all([
    stateBefore(plan),
    parentId ? readCheckpoint(place, parentId) : null,
  ]);
  return createThread(inDeployment, {
    graph_id: String(run.metadata.graph_id),
    metadata,
    supersteps: [{ updates: [{ values: values as Record<string, unknown>, as_node: writerOf(checkpoint, parent) }] }],
  });
}

/** @throws Error where a new thread has not the state that the run began with */
async function expectState(plan: ReplayPlan, shadow: ThreadPlace): Promise<void> {
  if (!plan.checkpoint) return;
  const [before, written] = [await stateBefore(plan), await readThreadState(shadow, {})];
  if (diffJson(before.values, written.values, { max: 1 }).length > 0)
    throw new Error('The other deployment makes another state of the one that the run began with.');
}

function stateBefore({ place, checkpoint }: ReplayPlan): Promise<ThreadState> {
  return readThreadState(place, { checkpointId: checkpoint?.checkpoint_id ?? undefined });
}
