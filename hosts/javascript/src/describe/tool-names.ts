import type { CompiledGraph } from '../langgraph/graph-types.ts';

/** The parts of a runnable in which tools or further runnables stand, by what it is. */
interface Runnable {
  /** The tools of a `ToolNode`. Those that the provider of a model runs may have no name. */
  tools?: unknown;
  /** The nodes of a graph. */
  nodes?: unknown;
  /** The runnable of a node, or the one that another runnable wraps. */
  bound?: unknown;
  /** The parts of a sequence. */
  steps?: unknown;
  /** The graphs that a node calls. */
  subgraphs?: unknown;
}

/**
 * Returns the names of the tools that the nodes of a graph call, each once, those of the graphs inside of it too. Tools
 * that the code of a node calls by itself are not found. A `ToolNode` is known by its form, as `langchain` has one of
 * its own.
 */
export function toolNames(graph: CompiledGraph): string[] {
  const names = new Set<string>();
  const seen = new Set<unknown>();
  const visit = (part: unknown) => {
    if (typeof part !== 'object' || part === null || seen.has(part)) return;
    seen.add(part);
    const { tools, nodes, bound, steps, subgraphs } = part as Runnable;
    for (const tool of listOf(tools)) {
      const { name } = (tool ?? {}) as { name?: unknown };
      if (typeof name === 'string') names.add(name);
    }
    for (const inner of [bound, ...listOf(steps), ...listOf(subgraphs), ...Object.values(nodes ?? {})]) visit(inner);
  };
  visit(graph);
  return [...names];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
