import type { GraphDrawing } from '@runyard/contracts';

/** A node as it is drawn. The id of a node within subgraphs begins with theirs: `outer:inner:drill`. */
export interface GraphNode {
  id: string;
  name: string;
  kind: 'start' | 'end' | 'node';
  /** The id of the subgraph that it is in; undefined at the top. */
  group: string | undefined;
}

/** A subgraph whose nodes are drawn in place of the node that it is. */
export interface GraphGroup {
  id: string;
  name: string;
  group: string | undefined;
}

export interface GraphEdge {
  id: string;
  source: string;
  target: string;
  /** The condition of the edge, in the words of the graph. */
  label: string | undefined;
  isConditional: boolean;
}

export interface GraphModel {
  nodes: readonly GraphNode[];
  /** Each subgraph before those within it. */
  groups: readonly GraphGroup[];
  edges: readonly GraphEdge[];
}

const SEPARATOR = ':';
const KINDS: Record<string, GraphNode['kind']> = { __start__: 'start', __end__: 'end' };
const NAMES = { start: 'Start', end: 'End' };

/** Reads a drawing of the platform. */
export function modelOf({ nodes, edges }: GraphDrawing): GraphModel {
  const groups = new Map<string, GraphGroup>();
  const made = nodes.map(({ id }) => nodeOf(String(id), groups));
  return { nodes: made, groups: [...groups.values()], edges: edges.map(edgeOf) };
}

function nodeOf(id: string, groups: Map<string, GraphGroup>): GraphNode {
  const path = id.split(SEPARATOR);
  const last = path.pop()!;
  let group: string | undefined;
  for (const name of path) {
    const inner = group === undefined ? name : `${group}${SEPARATOR}${name}`;
    if (!groups.has(inner)) groups.set(inner, { id: inner, name, group });
    group = inner;
  }
  const kind = KINDS[last] ?? 'node';
  return { id, name: kind === 'node' ? last : NAMES[kind], kind, group };
}

function edgeOf({ source, target, data, conditional }: GraphDrawing['edges'][number], index: number): GraphEdge {
  const label = data === undefined || data === null || data === '' ? undefined : String(data);
  const [from, to] = [String(source), String(target)];
  return {
    id: String(index),
    source: from,
    target: to,
    // Edges without a name of their own are named by their targets, which the drawing shows anyway.
    label: label === to || label === to.split(SEPARATOR).at(-1) ? undefined : label,
    isConditional: conditional === true,
  };
}

/** A line of a graph in words: a node, and the nodes that it leads to. */
export interface OutlineLine {
  id: string;
  name: string;
  leadsTo: { id: string; name: string; condition: string | undefined; isConditional: boolean }[];
}

/** Returns a graph in words, in the order of the drawing. */
export function outlineOf(model: GraphModel): OutlineLine[] {
  const nodes = new Map(model.nodes.map((node) => [node.id, node]));
  const nameOf = (id: string) => {
    const node = nodes.get(id);
    return node ? fullNameOf(node) : id;
  };
  return model.nodes.map(({ id }) => ({
    id,
    name: nameOf(id),
    leadsTo: model.edges
      .filter(({ source }) => source === id)
      .map(({ target, label, isConditional }) => ({
        id: target,
        name: nameOf(target),
        condition: label,
        isConditional,
      })),
  }));
}

/** Returns the name of a node with those of the subgraphs around it: `outer › inner › drill`. */
export function fullNameOf({ name, group }: Pick<GraphNode, 'name' | 'group'>): string {
  return [...(group?.split(SEPARATOR) ?? []), name].join(' › ');
}

/** Returns the id that a node has in a drawing, from the names of the nodes on the way to it. */
export function idOfPath(names: readonly string[]): string {
  return names.join(SEPARATOR);
}

/** Returns the id of a node as people read it: `outer › inner › drill`. */
export function readableId(id: string): string {
  return id.split(SEPARATOR).join(' › ');
}

/** Returns the id of the node at the top in which a node is. */
export function topOf(id: string): string {
  return id.split(SEPARATOR)[0]!;
}
