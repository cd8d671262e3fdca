/** Imports the graphs of a project, in every form in which their authors may export them. */
import type { SaverOptions } from '@runyard/checkpointer/graph-process';
import {
  GraphLoadError,
  type ProjectExport,
  type ProjectGraph,
  type ToHost,
} from '@runyard/host-protocol/graph-process';
import { describeLoadFailure } from '../describe-failure.ts';
import type { CompiledGraph, GraphConfig } from '../langgraph/graph-types.ts';
import { type ProjectModules, projectModules } from '../langgraph/langchain-modules.ts';
import { usageHandler } from '../usage/run-usage.ts';
import { type ManagerModule, watchCalls } from '../usage/watch-calls.ts';
import { importSymbol } from './import-symbol.ts';

/** Tells a factory what the graph is made for, so that it can skip work that a mere description does not need. */
export interface GraphUse {
  accessContext: 'threads.create_run' | 'threads.update' | 'threads.read' | 'assistants.read';
  executionRuntime: { context: unknown } | null;
}

export interface LoadedGraph {
  graphId: string;
  description?: string;
  isFactory: boolean;
  /** The author's export that the graph comes from. */
  source: ProjectExport;
  modules: ProjectModules;
  /** Options for every saver of the graph. */
  saverOptions: SaverOptions;
  /**
   * Returns the compiled graph; calls a factory anew each time. The graph never has a checkpointer or store of its own.
   */
  getGraph(config: GraphConfig, use: GraphUse): Promise<CompiledGraph>;
}

export type Warn = (message: string) => void;

/** @throws GraphLoadError */
export async function loadGraphs(
  project: Omit<ToHost['init']['project'], 'env'>,
  warn: Warn,
): Promise<Map<string, LoadedGraph>> {
  const graphs = new Map<string, LoadedGraph>();
  const saverOptions = { revivableModules: project.revivableModules };
  for (const graph of project.graphs) {
    try {
      graphs.set(graph.graphId, { ...(await loadGraph(graph, project.directory, warn)), saverOptions });
    } catch (cause) {
      const message = describeLoadFailure(`Graph "${graph.graphId}"`, cause, project.directory);
      throw new GraphLoadError(message, { cause, graphId: graph.graphId });
    }
  }
  return graphs;
}

async function loadGraph(
  graph: ProjectGraph,
  directory: string,
  warn: Warn,
): Promise<Omit<LoadedGraph, 'saverOptions'>> {
  const exported = await importSymbol(graph, directory);
  const modules = await projectModules(graph.file);
  watchCalls((await modules.importCore('callbacks/manager')) as ManagerModule, usageHandler);
  for (const warning of modules.warnings) warn(warning);
  const strip = createStripper(graph.graphId, warn);
  const described = {
    graphId: graph.graphId,
    isFactory: typeof exported === 'function',
    source: { file: graph.file, symbol: graph.symbol },
    ...(graph.description !== undefined && { description: graph.description }),
  };
  if (typeof exported === 'function') {
    const factory = exported as (config: GraphConfig, use: GraphUse) => unknown;
    return {
      ...described,
      modules,
      getGraph: async (config, use) => strip(compileExport(await factory(config, use), graph)),
    };
  }
  const shared = strip(compileExport(await exported, graph));
  return { ...described, modules, getGraph: () => Promise.resolve(shared) };
}

function compileExport(value: unknown, graph: ProjectGraph): CompiledGraph {
  if (typeof value === 'object' && value !== null) {
    // `createAgent` returns a wrapper with the compiled graph inside.
    if ('graph' in value && isCompiled(value.graph)) return value.graph;
    if ('compile' in value && typeof value.compile === 'function') return value.compile() as CompiledGraph;
    if (isCompiled(value)) return value;
  }
  throw new GraphLoadError(
    `The export "${graph.symbol}" is ${describe(value)}, not a graph. Export a StateGraph, a compiled graph, ` +
      'a promise of either, or a function that returns one.',
  );
}

function isCompiled(value: unknown): value is CompiledGraph {
  if (typeof value !== 'object' || value === null) return false;
  const graph = value as Partial<CompiledGraph>;
  return typeof graph.stream === 'function' && typeof graph.getState === 'function';
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  const name = typeof value === 'object' ? value.constructor?.name : undefined;
  return name !== undefined && name !== 'Object' ? `a ${name}` : `a plain ${typeof value}`;
}

/**
 * Removes a compiled-in checkpointer or store before the first use; each use passes its own through the config. Setting
 * it per use instead would race, because all runs share a graph object.
 */
function createStripper(graphId: string, warn: Warn): (graph: CompiledGraph) => CompiledGraph {
  let hasWarned = false;
  return (graph) => {
    const own = [
      ...(typeof graph.checkpointer === 'object' && graph.checkpointer !== null ? ['checkpointer'] : []),
      ...(graph.store ? ['store'] : []),
    ];
    if (own.length > 0 && !hasWarned) {
      hasWarned = true;
      warn(`Graph "${graphId}" is compiled with its own ${own.join(' and ')}; the platform's is used instead.`);
    }
    if (graph.checkpointer !== undefined) graph.checkpointer = undefined;
    if (graph.store !== undefined) graph.store = undefined;
    return graph;
  };
}
