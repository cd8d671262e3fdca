import type { ThreadState, ThreadStateUpdate } from '@runyard/contracts';
import type { ListedCheckpoint } from '../../platform/threads.ts';
import { namespacesTo, nodeOf, parentOf, subgraphsAfter } from './namespace.ts';
import { writerOf } from './run-request.ts';
import { differingChannels } from './state-update.ts';

/** The requests about one thread that opening a subgraph takes. */
export interface ThreadAccess {
  readState(position: { checkpointId?: string | undefined; namespace: string }): Promise<ThreadState>;
  updateState(update: ThreadStateUpdate): Promise<string>;
  listCheckpoints(position: { namespace: string; before: string | null }): Promise<ListedCheckpoint[]>;
}

export interface OpenedSubgraph {
  namespace: string;
  /** Undefined where the subgraph starts from its beginning. */
  checkpointId: string | undefined;
}

/** A place in the history of a graph. */
interface Position {
  namespace: string;
  checkpointId: string;
}

/**
 * Makes a thread stand within a subgraph, at one of its checkpoints, so that a run without a checkpoint goes on from there.
 * LangGraph takes a subgraph without a checkpointer of its own as one step, and starts it from its beginning even if a run
 * names a checkpoint within. So the checkpoint before that step is copied, which opens the step anew, and the state of each
 * graph on the way is written into the copy as the node that wrote it. What there was stays as it is.
 *
 * @param state a checkpoint of the subgraph
 * @param edit what is written in the place of its values
 * @throws PlatformError; Error where the subgraph would go on with other nodes than it did
 */
export async function openSubgraph(
  thread: ThreadAccess,
  state: ThreadState,
  edit?: { values: Record<string, unknown>; asNode: string },
): Promise<OpenedSubgraph> {
  const [root, ...inner] = await positionsTo(thread, state);
  await thread.updateState({ checkpoint: { checkpoint_id: root!.checkpointId }, values: null, as_node: '__copy__' });
  let opened: OpenedSubgraph = { namespace: '', checkpointId: undefined };
  let around = await thread.readState({ namespace: '', checkpointId: root!.checkpointId });
  for (const [index, position] of inner.entries()) {
    const namespace = await findOpened(thread, opened.namespace, orderOf(around, position.namespace));
    const isLast = index === inner.length - 1;
    around = isLast ? state : await thread.readState(position);
    const change = isLast ? edit : undefined;
    const startsAnew = change === undefined && around.next.includes('__start__');
    opened = { namespace, checkpointId: startsAnew ? undefined : await write(thread, namespace, around, change) };
  }
  return opened;
}

/** Writes the state of a checkpoint into another namespace. */
async function write(
  thread: ThreadAccess,
  namespace: string,
  state: ThreadState,
  edit: { values: Record<string, unknown>; asNode: string } | undefined,
): Promise<string> {
  const values = edit?.values ?? (state.values as Record<string, unknown>);
  const asNode = edit?.asNode ?? writerOf(state, await parentOfState(thread, state));
  const checkpointId = await thread.updateState({ checkpoint: { checkpoint_ns: namespace }, values, as_node: asNode });
  if (edit) return checkpointId;
  const written = await thread.readState({ namespace, checkpointId });
  const isSame =
    written.next.join() === state.next.join() &&
    differingChannels(values, written.values as Record<string, unknown>).length === 0;
  if (isSame) return checkpointId;
  throw new Error(
    `The state of ${nodeOf(namespace)} cannot be written so that it goes on as it did there: ` +
      'several nodes wrote it, or a reducer makes something else of it. Start from the checkpoint before the subgraph.',
  );
}

async function parentOfState(
  thread: ThreadAccess,
  { parent_checkpoint_id: id, checkpoint }: ThreadState,
): Promise<ThreadState | null> {
  if (!id) return null;
  return thread.readState({ namespace: checkpoint?.checkpoint_ns ?? '', checkpointId: id });
}

/** Returns the place of a subgraph among those that ran after a checkpoint. */
function orderOf(around: Pick<ListedCheckpoint, 'tasks'>, namespace: string): number {
  return subgraphsAfter(around).findIndex((subgraph) => subgraph.namespace === namespace);
}

/** Returns the namespace of a subgraph that is to run after the newest checkpoint of `namespace`. */
async function findOpened(thread: ThreadAccess, namespace: string, order: number): Promise<string> {
  const found = subgraphsAfter(await thread.readState({ namespace }))[order];
  if (found) return found.namespace;
  throw new Error('The step of the subgraph cannot be opened anew. Start from the checkpoint before the subgraph.');
}

/**
 * Returns the checkpoints that a run stood at within each graph, from the root graph to the subgraph. A checkpoint that was
 * written into a subgraph does not name those around it: they are looked for, as a namespace is one of a single step.
 */
async function positionsTo(thread: ThreadAccess, state: ThreadState): Promise<Position[]> {
  const { checkpoint_ns: namespace = '', checkpoint_map: map } = state.checkpoint ?? {};
  const positions: Position[] = [{ namespace: namespace ?? '', checkpointId: String(state.checkpoint_id) }];
  for (const inner of namespacesTo(namespace ?? '')
    .slice(1)
    .toReversed()) {
    const around = parentOf(inner);
    const known = map?.[around];
    const checkpointId = typeof known === 'string' ? known : await findAround(thread, inner);
    positions.unshift({ namespace: around, checkpointId });
  }
  return positions;
}

async function findAround(thread: ThreadAccess, namespace: string): Promise<string> {
  let before: string | null = null;
  do {
    const page = await thread.listCheckpoints({ namespace: parentOf(namespace), before });
    const found = page.find((checkpoint) => orderOf(checkpoint, namespace) !== -1);
    if (found?.checkpoint_id) return found.checkpoint_id;
    before = page.at(-1)?.checkpoint_id ?? null;
  } while (before !== null);
  throw new Error('The checkpoint before this subgraph is not there any more.');
}

/** Returns whether a thread stands at a checkpoint of a subgraph: a run without a checkpoint goes on from there. */
export function standsAt(newest: ThreadState, state: Pick<ThreadState, 'checkpoint' | 'checkpoint_id'>): boolean {
  let at: ThreadState | undefined = newest;
  for (const namespace of namespacesTo(state.checkpoint?.checkpoint_ns ?? '').slice(1)) {
    const inner: ThreadState[] | undefined = at?.tasks.flatMap(({ state }) => (state ? [state as ThreadState] : []));
    at = inner?.find(({ checkpoint }) => checkpoint?.checkpoint_ns === namespace);
  }
  return at?.checkpoint_id === state.checkpoint_id;
}
