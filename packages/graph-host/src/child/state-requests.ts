/** Reads and writes of a thread's state outside a run. */
import { createSaver, createStore } from '@runyard/checkpointer';
import { GraphRequestError } from '../errors.ts';
import type { HistoryRequest, StateRequest, StateUpdateRequest } from '../types.ts';
import type { RemoteCheckpoints, RemoteStore } from './backends.ts';
import { checkpointOf } from './event-renderer.ts';
import type { CompiledGraph, GraphConfig, StateSnapshot } from './graph-types.ts';
import type { GraphUse, LoadedGraph } from './load-graphs.ts';
import { toCommand } from './run-command.ts';
import { threadState } from './thread-state.ts';

export interface StateBackends {
  checkpoints: RemoteCheckpoints;
  store: RemoteStore;
}

type Json = Record<string, unknown>;

export async function getState(graph: LoadedGraph, request: StateRequest, backends: StateBackends): Promise<Json> {
  const view = await viewOf(graph, request, backends, 'threads.read');
  const snapshot = await view.getState(configOf(request), { subgraphs: request.subgraphs ?? false });
  return threadState(snapshot, { graphId: request.graphId, parent: await parentOf(view, snapshot) });
}

export async function getHistory(
  graph: LoadedGraph,
  request: HistoryRequest,
  backends: StateBackends,
): Promise<Json[]> {
  if (request.limit <= 0) return [];
  const view = await viewOf(graph, request, backends, 'threads.read');
  const options = {
    // One more than asked: the oldest one's writes are found on its parent.
    limit: request.limit + 1,
    ...(request.metadata && { filter: request.metadata }),
    ...(request.beforeCheckpointId !== undefined && {
      before: { configurable: { thread_id: request.threadId, checkpoint_id: request.beforeCheckpointId } },
    }),
  };
  const snapshots: StateSnapshot[] = [];
  for await (const snapshot of view.getStateHistory(configOf(request), options)) snapshots.push(snapshot);
  const byId = new Map(snapshots.map((snapshot) => [snapshot.config.configurable?.checkpoint_id, snapshot]));
  const states: Json[] = [];
  for (const snapshot of snapshots.slice(0, request.limit)) {
    const known = byId.get(snapshot.parentConfig?.configurable?.checkpoint_id);
    const parent = known ?? (await parentOf(view, snapshot));
    states.push(threadState(snapshot, { graphId: request.graphId, parent }));
  }
  return states;
}

/** @returns `{checkpoint, configurable, checkpoint_id}` of the checkpoint that was written last */
export async function updateState(
  graph: LoadedGraph,
  request: StateUpdateRequest,
  backends: StateBackends,
): Promise<Json> {
  const view = await viewOf(graph, request, backends, 'threads.update');
  const supersteps = request.supersteps ?? [{ updates: [{ values: request.values, as_node: request.asNode }] }];
  const steps = supersteps.map(({ updates }) => ({
    updates: updates.map(({ as_node, ...update }) => ({
      values:
        'command' in update && update.command != null
          ? toCommand(graph.modules.langgraph, update.command as Json)
          : (update.values ?? null),
      asNode: as_node,
    })),
  }));
  try {
    const checkpoint = checkpointOf(await view.bulkUpdateState(configOf(request), steps));
    return { checkpoint, configurable: checkpoint, checkpoint_id: checkpoint?.checkpoint_id ?? null };
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== 'InvalidUpdateError') throw cause;
    throw new GraphRequestError('bad_request', cause.message, { cause, name: cause.name });
  }
}

/**
 * The graph with this request's checkpointer and store, as an object of its own that inherits everything else: the shared
 * one is never touched, and LangGraph finds both where it looks for them outside a run.
 */
async function viewOf(
  graph: LoadedGraph,
  request: StateRequest | HistoryRequest,
  { checkpoints, store }: StateBackends,
  accessContext: GraphUse['accessContext'],
): Promise<CompiledGraph> {
  const compiled = await graph.take(
    { configurable: { thread_id: request.threadId } },
    { accessContext, executionRuntime: null },
  );
  return Object.create(compiled, {
    checkpointer: { value: createSaver(graph.modules.checkpoint, checkpoints) },
    store: { value: createStore(graph.modules.checkpoint, store) },
  }) as CompiledGraph;
}

function configOf(request: StateRequest | HistoryRequest): GraphConfig {
  return {
    configurable: {
      thread_id: request.threadId,
      checkpoint_ns: request.checkpointNs ?? '',
      ...(request.checkpointId !== undefined && { checkpoint_id: request.checkpointId }),
    },
  };
}

async function parentOf(view: CompiledGraph, snapshot: StateSnapshot): Promise<StateSnapshot | undefined> {
  const needsParent = snapshot.metadata?.source !== 'input' && snapshot.parentConfig?.configurable?.checkpoint_id;
  return needsParent ? await view.getState(snapshot.parentConfig as GraphConfig) : undefined;
}
