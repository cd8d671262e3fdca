/** Breakpoints at which a run waits for somebody to have it go on. */
import type { ExecutionRequest } from '@runyard/host-protocol/graph-process';
import type { CompiledGraph, GraphConfig, StateSnapshot } from '../langgraph/graph-types.ts';
import { newestStateConfig } from './run-config.ts';

/** Names of nodes; `*` for all of them. */
type Nodes = readonly string[] | '*';

/** The part of a checkpoint by which LangGraph knows whether it has stopped there before. */
interface Versions {
  channel_versions: Record<string, number | string>;
  versions_seen: Record<string, Record<string, number | string>>;
}

const START = '__start__';
const HIDDEN = 'langsmith:hidden';

/**
 * Returns the state at which a run has stopped that is attempted again; undefined when it may go on from its checkpoint.
 *
 * An attempt goes on without an input, by which LangGraph passes whatever breakpoint there is: so do clients that have
 * seen it. Here nobody has, as the end of the run was lost, or a drain came before the breakpoint.
 */
export async function findBreakpoint(
  { graph, config, request }: { graph: CompiledGraph; config: GraphConfig; request: ExecutionRequest },
  readNewest: () => Promise<unknown>,
): Promise<StateSnapshot | undefined> {
  const { before, after } = breakpointsOf(graph, request);
  if (before.length + after.length === 0) return undefined;
  if (!isUnseen((await readNewest()) as Versions)) return undefined;
  const state = await graph.getState(newestStateConfig(config));
  if (state.next.length === 0) return undefined;
  const isAmong = (nodes: Nodes) => (name: string) => (nodes === '*' ? isShown(graph, name) : nodes.includes(name));
  if (state.next.some(isAmong(before))) return state;
  return after.length > 0 && (await lastNodes(graph, config, state)).some(isAmong(after)) ? state : undefined;
}

/** Returns whether a graph inside of this one, as far as it is known without running it, has breakpoints. */
export async function hasBreakpointsInside(graph: CompiledGraph): Promise<boolean> {
  for await (const [, inner] of graph.getSubgraphsAsync(undefined, true)) {
    const { before, after } = breakpointsOf(inner, {});
    if (before.length + after.length > 0) return true;
  }
  return false;
}

function breakpointsOf(
  graph: CompiledGraph,
  request: Pick<ExecutionRequest, 'interruptBefore' | 'interruptAfter'>,
): { before: Nodes; after: Nodes } {
  return {
    before: request.interruptBefore ?? graph.interruptBefore ?? [],
    after: request.interruptAfter ?? graph.interruptAfter ?? [],
  };
}

function isUnseen({ channel_versions: versions, versions_seen }: Versions): boolean {
  const seen = versions_seen.__interrupt__ ?? {};
  return Object.entries(versions).some(([channel, version]) => {
    const last = seen[channel];
    return last === undefined || version > last;
  });
}

function isShown(graph: CompiledGraph, name: string): boolean {
  return name !== START && !graph.nodes?.[name]?.tags?.includes(HIDDEN);
}

/** Returns the nodes that made a state: those that were next at the one before. */
async function lastNodes(graph: CompiledGraph, config: GraphConfig, state: StateSnapshot): Promise<string[]> {
  if (state.metadata?.source !== 'loop' || !state.parentConfig) return [];
  const { configurable } = newestStateConfig(config);
  const parent = { configurable: { ...configurable, ...state.parentConfig.configurable } };
  return (await graph.getState(parent)).tasks.map(({ name }) => name);
}
