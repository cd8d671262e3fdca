import type { ListedCheckpoint } from '../../platform/threads.ts';

/** A subgraph that ran, or waits, as a step of the graph around it. */
export interface SubgraphTask {
  /** The node that the subgraph is. */
  name: string;
  namespace: string;
  /** True once the step has a result. */
  hasRun: boolean;
}

/**
 * The way in which the checkpoints of a namespace can be started from.
 *
 * - `root`: LangGraph starts there.
 * - `memory`: a subgraph with a checkpointer of its own, which LangGraph starts there too.
 * - `step`: a subgraph without one. LangGraph takes it as a single step of the graph around it, and starts that step from
 *   its beginning: to start within it, the step is opened anew (`openSubgraph`).
 */
export type NamespaceKind = 'root' | 'memory' | 'step';

/** Returns the namespaces from the root graph to `namespace`: `''`, `a:1`, `a:1|b:2`. */
export function namespacesTo(namespace: string): string[] {
  if (namespace === '') return [''];
  const parts = namespace.split('|');
  return ['', ...parts.map((_, index) => parts.slice(0, index + 1).join('|'))];
}

/** Returns the node that the innermost graph of a namespace is, of `a:1|b:2` it is `b`. */
export function nodeOf(namespace: string): string {
  return namespace
    .split('|')
    .at(-1)!
    .replace(/:[^:]*$/, '');
}

export function parentOf(namespace: string): string {
  return namespace.split('|').slice(0, -1).join('|');
}

export function kindOf(namespace: string): NamespaceKind {
  if (namespace === '') return 'root';
  return namespace.includes(':') ? 'step' : 'memory';
}

/** Returns the subgraphs that ran, or wait, as steps after a checkpoint. */
export function subgraphsAfter({ tasks }: Pick<ListedCheckpoint, 'tasks'>): SubgraphTask[] {
  return tasks.flatMap(({ name, checkpoint, result }) => {
    const namespace = checkpoint?.checkpoint_ns;
    if (!namespace) return [];
    return [{ name, namespace, hasRun: result !== null && result !== undefined }];
  });
}

/**
 * Returns the namespace that a subgraph with a checkpointer of its own keeps its checkpoints in: of each node one, however
 * often it runs. LangGraph for JavaScript names the other one all the same.
 */
export function memoryNamespace(namespace: string): string {
  return [parentOf(namespace), nodeOf(namespace)].filter(Boolean).join('|');
}

/** Returns the nodes of the graph in `namespace` out of those of a whole graph, which are named `a:b:node`. */
export function nodesWithin(ids: readonly string[], namespace: string): string[] {
  const prefix = namespacesTo(namespace)
    .slice(1)
    .map((each) => `${nodeOf(each)}:`)
    .join('');
  const names = ids
    .filter((id) => id.startsWith(prefix))
    .map((id) => id.slice(prefix.length).split(':')[0]!)
    .filter((name) => name !== '__start__' && name !== '__end__');
  return [...new Set(names)];
}
