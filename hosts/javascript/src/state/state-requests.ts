/** Reads and writes of a thread's state outside a run. */
import { BackendError } from '@runyard/checkpointer/graph-process';
import {
  GraphRequestError,
  type HistoryRequest,
  type StateRequest,
  type StateUpdateRequest,
} from '@runyard/host-protocol/graph-process';
import { checkpointOf } from '../events/step-events.ts';
import type { GraphConfig, StateSnapshot } from '../langgraph/graph-types.ts';
import type { GraphUse, LoadedGraph } from '../loading/load-graphs.ts';
import { toCommand } from '../run/run-command.ts';
import { errorBody } from '../wire/error-body.ts';
import { type StateText, toStateText } from './state-text.ts';
import { type StateBackends, type StateView, stateView } from './state-view.ts';
import { stepWrites } from './step-writes.ts';
import { threadState } from './thread-state.ts';

/** The number of states that are read at once where their bytes are limited. */
const BOUNDED_PAGE = 4;

type Json = Record<string, unknown>;
type Update = NonNullable<StateUpdateRequest['supersteps']>[number]['updates'][number];

export async function getState(graph: LoadedGraph, request: StateRequest, backends: StateBackends): Promise<StateText> {
  const view = await viewFor(graph, request, backends, 'threads.read');
  const snapshot = await view.graph.getState(configOf(request), { subgraphs: request.subgraphs ?? false });
  return toStateText(threadState(snapshot, { graphId: request.graphId, writes: await writesBefore(view, snapshot) }));
}

/**
 * Returns states, newest first, until there are no more, or enough of them, or too many bytes of them. With a limit of
 * bytes they are read a few at a time.
 */
export async function getHistory(
  graph: LoadedGraph,
  request: HistoryRequest,
  backends: StateBackends,
): Promise<StateText[]> {
  const { limit, maxBytes = Number.POSITIVE_INFINITY, checkpointNs = '' } = request;
  // The channels of a subgraph are not those of the graph.
  const keys = checkpointNs === '' ? request.keys : undefined;
  const view = await viewFor(graph, request, backends, 'threads.read', keys);
  const pageMax = maxBytes < Number.POSITIVE_INFINITY ? BOUNDED_PAGE : limit;
  const states: StateText[] = [];
  let bytes = '['.length;
  let before = request.beforeCheckpointId;
  while (states.length < limit) {
    const wanted = Math.min(pageMax, limit - states.length);
    // One more is listed than wanted: the writes of the oldest one are found at its parent.
    const listed = await listStates(view, request, { limit: wanted + 1, before });
    for (const snapshot of listed.slice(0, wanted)) {
      const writes = await writesBefore(view, snapshot, listed);
      const state = toStateText(threadState(snapshot, { graphId: request.graphId, writes }));
      bytes += state.bytes + ','.length;
      if (states.length > 0 && bytes > maxBytes) return states;
      states.push(state);
      before = snapshot.config.configurable?.checkpoint_id as string | undefined;
    }
    if (listed.length <= wanted || before === undefined) break;
  }
  return states;
}

async function listStates(
  view: StateView,
  request: HistoryRequest,
  { limit, before }: { limit: number; before: string | undefined },
): Promise<StateSnapshot[]> {
  const options = {
    limit,
    ...(request.metadata && { filter: request.metadata }),
    ...(before !== undefined && { before: { configurable: { thread_id: request.threadId, checkpoint_id: before } } }),
  };
  const snapshots: StateSnapshot[] = [];
  for await (const snapshot of view.graph.getStateHistory(configOf(request), options)) snapshots.push(snapshot);
  return snapshots;
}

export interface UpdatedState {
  /** `{checkpoint, configurable, checkpoint_id}` of the checkpoint that was written last. */
  written: Json;
  /** The state of the thread from then on. Left out where only storage can tell it. */
  state?: StateText;
}

export async function updateState(
  graph: LoadedGraph,
  request: StateUpdateRequest,
  backends: StateBackends,
): Promise<UpdatedState> {
  const view = await viewFor(graph, request, backends, 'threads.update');
  const { values, asNode } = request;
  const supersteps = request.supersteps ?? [
    { updates: [{ values, ...(asNode !== undefined && { as_node: asNode }) }] },
  ];
  let config = configOf(request);
  for (const [superstep, { updates }] of (supersteps as { updates: Update[] }[]).entries()) {
    try {
      view.nextMetadata = await writesOf(view, updates, config);
      const steps = [
        { updates: updates.map((update) => ({ values: valuesOf(graph, update), asNode: update.as_node })) },
      ];
      config = await view.graph.bulkUpdateState(config, steps);
    } catch (cause) {
      throw updateError(cause, superstep, updates);
    }
  }
  const checkpoint = checkpointOf(config);
  const written = { checkpoint, configurable: checkpoint, checkpoint_id: checkpoint?.checkpoint_id ?? null };
  const state = await stateAfter(graph, request, backends);
  return { written, ...(state && { state }) };
}

/**
 * Returns the newest state from what this process has just written: reading it from storage would take a large state
 * through the database and two processes once more. A factory may make another graph for reading.
 */
async function stateAfter(
  graph: LoadedGraph,
  { graphId, threadId, config, checkpointId, checkpointNs = '' }: StateUpdateRequest,
  backends: StateBackends,
): Promise<StateText | undefined> {
  if (graph.isFactory || checkpointId !== undefined || checkpointNs !== '') return undefined;
  if (!backends.checkpoints.readPutNext(threadId)) return undefined;
  // The update is made. Whoever reads the state next gets the error.
  return getState(graph, { graphId, threadId, config }, backends).catch(() => undefined);
}

/** Names the node of a refused update in the error. */
function updateError(cause: unknown, superstep: number, updates: Update[]): GraphRequestError {
  const { error: name, message } = errorBody(cause);
  const refused = updates.find(({ as_node }) => message.includes(`"${as_node}"`)) ?? updates[0];
  const reason =
    cause instanceof BackendError ? cause.reason : name === 'InvalidUpdateError' ? 'bad_request' : 'failed';
  return new GraphRequestError(reason, message, { cause, name, step: { superstep, asNode: refused?.as_node ?? null } });
}

function valuesOf({ modules }: LoadedGraph, { values, command }: Update): unknown {
  return command === undefined || command === null ? (values ?? null) : toCommand(modules.langgraph, command as Json);
}

/** Returns metadata with the node of each update, because LangGraph does not store it. */
async function writesOf(view: StateView, updates: Update[], config: GraphConfig): Promise<Json> {
  const writes: Json = {};
  for (const { as_node, values, command } of updates) {
    if (as_node === '__input__') return {};
    const node = as_node ?? (await lastNode(view, config));
    if (node !== undefined) writes[node] = values ?? command ?? null;
  }
  return { writes };
}

/** Returns the node that an update without one counts as: the only one there is, or the one that ran last. */
async function lastNode(view: StateView, config: GraphConfig): Promise<string | undefined> {
  await view.graph.getState(config);
  const seen = Object.entries(view.versionsSeen()).flatMap(([node, versions]) =>
    node === '__interrupt__' ? [] : Object.values(versions).map((version) => ({ node, version: Number(version) })),
  );
  return seen.sort((a, b) => b.version - a.version)[0]?.node;
}

async function viewFor(
  graph: LoadedGraph,
  { threadId, config: given }: StateRequest | HistoryRequest,
  backends: StateBackends,
  accessContext: GraphUse['accessContext'],
  keys?: string[],
): Promise<StateView> {
  const config = { ...given, configurable: { ...given?.configurable, thread_id: threadId } };
  return stateView(await graph.getGraph(config, { accessContext, executionRuntime: null }), graph, backends, keys);
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

/** Returns what the step before a snapshot wrote. The checkpoint of an input holds the input itself. */
async function writesBefore(view: StateView, snapshot: StateSnapshot, known: StateSnapshot[] = []): Promise<Json> {
  const channels = view.graph.streamChannelsAsIs;
  const idOf = ({ config }: StateSnapshot) => config.configurable?.checkpoint_id;
  if (snapshot.metadata?.source === 'input') {
    return stepWrites({ at: snapshot, writes: view.writesAt(idOf(snapshot)), channels }, true);
  }
  const parentId = snapshot.parentConfig?.configurable?.checkpoint_id;
  if (parentId === undefined || snapshot.metadata?.writes) return {};
  const parent =
    known.find((candidate) => idOf(candidate) === parentId) ??
    (await view.graph.getState(snapshot.parentConfig as GraphConfig));
  return stepWrites({ at: parent, writes: view.writesAt(parentId), channels }, false);
}
