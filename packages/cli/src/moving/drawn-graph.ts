import type { AgentServer } from '../agent-server/agent-server.ts';

export interface DrawnGraph {
  nodes: { id: string }[];
  edges: { source: string; target: string }[];
}

/**
 * Returns a node of a graph after which these nodes come, or the end; any node where none leads there.
 *
 * @param assistantId the default assistant of the graph
 */
export function findNodeLeadingTo({ nodes, edges }: DrawnGraph, next: string[]): string | undefined {
  const isNode = (id: string) => !id.startsWith('__');
  const wanted = next[0] ?? '__end__';
  const leading = edges.find(({ source, target }) => target === wanted && isNode(source))?.source;
  return leading ?? nodes.map(({ id }) => id).find(isNode);
}

/** Asks a server for its graphs as they are drawn, each once. */
export class DrawnGraphs {
  readonly #server: AgentServer;
  readonly #asked = new Map<string, Promise<DrawnGraph>>();

  constructor(server: AgentServer) {
    this.#server = server;
  }

  get(assistantId: string): Promise<DrawnGraph> {
    const asked = this.#asked.get(assistantId) ?? this.#server.call('GET', `/assistants/${assistantId}/graph`);
    this.#asked.set(assistantId, asked as Promise<DrawnGraph>);
    return asked as Promise<DrawnGraph>;
  }
}
