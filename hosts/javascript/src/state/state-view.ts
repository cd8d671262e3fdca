/**
 * Makes a view of a graph with the checkpointer and store of one state request. The view inherits everything else: the
 * shared graph stays unchanged, and LangGraph finds both where it looks for them outside a run.
 */
import { type CheckpointBackend, createSaver, createStore } from '@runyard/checkpointer/graph-process';
import type { CompiledGraph } from '../langgraph/graph-types.ts';
import type { LoadedGraph } from '../loading/load-graphs.ts';
import type { RemoteCheckpoints, RemoteStore } from '../storage/backends.ts';

/** A pending write as `[task id, channel, value]`. */
export type PendingWriteTuple = [string, string, unknown];

interface Tuple {
  config: { configurable?: Record<string, unknown> };
  checkpoint: { versions_seen?: Record<string, Record<string, number | string>> };
  pendingWrites?: PendingWriteTuple[];
}

export interface StateView {
  graph: CompiledGraph;
  /** Returns what the tasks that began at a checkpoint wrote; known for checkpoints that were read through `graph`. */
  writesAt(checkpointId: unknown): PendingWriteTuple[];
  /** Returns which node last saw which version of each channel, for the checkpoint that was read last. */
  versionsSeen(): Record<string, Record<string, number | string>>;
  /** Is added to the metadata of the checkpoints that are put next. */
  nextMetadata: Record<string, unknown>;
}

export interface StateBackends {
  checkpoints: RemoteCheckpoints;
  store: RemoteStore;
}

/** @param keys the keys of the state that listed checkpoints need; without them, all */
export function stateView(
  shared: CompiledGraph,
  { modules, saverOptions }: LoadedGraph,
  backends: StateBackends,
  keys?: string[],
): StateView {
  const checkpoints = keys ? listWithout(backends.checkpoints, unneededChannels(shared, keys)) : backends.checkpoints;
  const saver = createSaver(modules.checkpoint, checkpoints, saverOptions);
  const writes = new Map<unknown, PendingWriteTuple[]>();
  let newest: Tuple | undefined;
  const remember = <T>(read: T): T => {
    const tuple = read as unknown as Tuple | undefined;
    if (tuple) writes.set(tuple.config.configurable?.checkpoint_id, tuple.pendingWrites ?? []);
    newest = tuple;
    return read;
  };
  const getTuple = saver.getTuple.bind(saver);
  const list = saver.list.bind(saver);
  const put = saver.put.bind(saver);
  const view: StateView = {
    graph: Object.create(shared, {
      checkpointer: { value: saver },
      store: { value: createStore(modules.checkpoint, backends.store) },
    }) as CompiledGraph,
    writesAt: (checkpointId) => writes.get(checkpointId) ?? [],
    versionsSeen: () => newest?.checkpoint.versions_seen ?? {},
    nextMetadata: {},
  };
  saver.getTuple = async (config) => remember(await getTuple(config));
  saver.list = async function* (config, options) {
    for await (const tuple of list(config, options)) yield remember(tuple);
  };
  saver.put = (config, checkpoint, metadata, versions) =>
    put(config, checkpoint, { ...metadata, ...view.nextMetadata }, versions);
  return view;
}

/** Returns the channels of keys that nobody needs. The triggers of nodes are needed to say which nodes come next. */
function unneededChannels({ streamChannelsAsIs, nodes = {} }: CompiledGraph, keys: string[]): string[] {
  if (!Array.isArray(streamChannelsAsIs)) return [];
  const needed = new Set([...keys, ...Object.values(nodes).flatMap(({ triggers = [] }) => triggers)]);
  return streamChannelsAsIs.filter((channel) => !needed.has(channel));
}

/** Lists checkpoints without the values of these channels, also where they have to be put together from changes. */
function listWithout(backend: RemoteCheckpoints, channels: string[]): CheckpointBackend {
  return {
    get: (...place) => backend.get(...place),
    list: (query) => backend.list({ ...query, withoutValuesOf: channels }),
    put: (put) => backend.put(put),
    putWrites: (put) => backend.putWrites(put),
    deleteThread: (threadId) => backend.deleteThread(threadId),
    channelHistories: (key, wanted) =>
      backend.channelHistories(
        key,
        wanted.filter((channel) => !channels.includes(channel)),
      ),
  };
}
