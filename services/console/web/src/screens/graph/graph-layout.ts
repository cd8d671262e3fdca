import dagre from '@dagrejs/dagre';
import { fullNameOf, type GraphEdge, type GraphGroup, type GraphModel, type GraphNode } from './graph-model.ts';

/** A rectangle by its upper left corner. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Point {
  x: number;
  y: number;
}

export interface PlacedEdge extends GraphEdge {
  /** The line as the `d` of an SVG path. */
  path: string;
  /** The middle of its label. */
  labelAt: Point | undefined;
}

export interface GraphLayout {
  nodes: readonly (GraphNode & { box: Box })[];
  groups: readonly (GraphGroup & { box: Box })[];
  edges: readonly PlacedEdge[];
  size: Pick<Box, 'width' | 'height'>;
}

/** `down` fits columns of a page, `right` its lines. */
export type Direction = 'down' | 'right';

const NODE_HEIGHT = 36;
const NODE_WIDTH = { min: 64, max: 220 };
const CHARACTER_WIDTH = 7.5;
/** The room beside a name: of nodes their padding, the sign of how they stand, and how often they ran. */
const BESIDE_NAME = { node: 76, start: 28, end: 28 };
const BESIDE_LABEL = 8;
const LABEL_HEIGHT = 20;
const RANK_GAP = 44;
const NODE_GAP = 28;
const MARGIN = 12;
/** How far the line from a node to itself leads away from it. */
const LOOP = 28;
/** A group has the name of no node, as a graph may have a node and a subgraph of one name. */
const keyOfGroup = (id: string) => `group ${id}`;

/**
 * Places the nodes of a graph so that its edges lead in one direction, and those of a subgraph stand together. Takes
 * seconds for hundreds of nodes and edges.
 */
export function layOut(model: GraphModel, direction: Direction): GraphLayout {
  try {
    return place(model, direction);
  } catch (error) {
    if (model.groups.length === 0) throw error;
    // The library fails at a few graphs whose subgraphs lead to each other in many ways: these are drawn without frames.
    return place(flatten(model), direction);
  }
}

function flatten({ nodes, edges }: GraphModel): GraphModel {
  return { nodes: nodes.map((node) => ({ ...node, name: fullNameOf(node), group: undefined })), groups: [], edges };
}

function place({ nodes, groups, edges }: GraphModel, direction: Direction): GraphLayout {
  const graph = new dagre.graphlib.Graph({ compound: true, multigraph: true });
  graph.setGraph({
    rankdir: direction === 'down' ? 'TB' : 'LR',
    ranksep: RANK_GAP,
    nodesep: NODE_GAP,
    marginx: MARGIN,
    marginy: MARGIN,
  });
  for (const { id } of groups) graph.setNode(keyOfGroup(id), { width: 0, height: 0 });
  for (const { id, group } of groups) if (group !== undefined) graph.setParent(keyOfGroup(id), keyOfGroup(group));
  for (const { id, name, kind, group } of nodes) {
    graph.setNode(id, { width: widthOf(name, BESIDE_NAME[kind], NODE_WIDTH), height: NODE_HEIGHT });
    if (group !== undefined) graph.setParent(id, keyOfGroup(group));
  }
  const drawn = edges.filter(({ source, target }) => graph.hasNode(source) && graph.hasNode(target));
  for (const { id, source, target, label } of drawn) {
    // The library places an edge from a node to itself wrongly where edges lead to the right.
    if (source === target) continue;
    const size =
      label === undefined ? {} : { width: widthOf(label, BESIDE_LABEL), height: LABEL_HEIGHT, labelpos: 'c' as const };
    graph.setEdge(source, target, size, id);
  }
  dagre.layout(graph);
  const boxOf = (key: string): Box => {
    const { x = 0, y = 0, width, height } = graph.node(key) as Point & { width: number; height: number };
    return { x: x - width / 2, y: y - height / 2, width, height };
  };
  const lineOf = ({ id, source, target, label }: GraphEdge): Pick<PlacedEdge, 'path' | 'labelAt'> => {
    if (source === target) return loopAt(boxOf(source), direction, widthOf(label ?? '', BESIDE_LABEL));
    const { points = [], x, y } = graph.edge(source, target, id) as { points?: Point[] } & Point;
    return { path: curveThrough(points), labelAt: label === undefined ? undefined : { x, y } };
  };
  const { width = 0, height = 0 } = graph.graph() as Partial<Box>;
  return {
    size: { width, height },
    nodes: nodes.map((node) => ({ ...node, box: boxOf(node.id) })),
    groups: groups.map((group) => ({ ...group, box: boxOf(keyOfGroup(group.id)) })),
    edges: drawn.map((edge) => ({ ...edge, ...lineOf(edge) })),
  };
}

/** Returns the line from a node to itself, beside the way that the other edges take. */
function loopAt(
  { x, y, width, height }: Box,
  direction: Direction,
  labelWidth: number,
): Pick<PlacedEdge, 'path' | 'labelAt'> {
  const [right, bottom] = [x + width, y + height];
  if (direction === 'down') {
    const [from, to] = [y + height * 0.75, y + height * 0.25];
    const out = right + LOOP;
    return {
      path: `M${right},${from} C${out},${from} ${out},${to} ${right},${to}`,
      labelAt: { x: out + labelWidth / 2, y: y + height / 2 },
    };
  }
  const [from, to] = [x + width * 0.65, x + width * 0.35];
  const out = bottom + LOOP;
  return {
    path: `M${from},${bottom} C${from},${out} ${to},${out} ${to},${bottom}`,
    labelAt: { x: x + width / 2, y: out + LABEL_HEIGHT / 2 },
  };
}

function widthOf(text: string, beside: number, { min, max } = { min: 0, max: Number.POSITIVE_INFINITY }): number {
  return Math.max(min, Math.min(max, text.length * CHARACTER_WIDTH + beside));
}

/** Returns a line that bends towards each point, and begins and ends at the outer ones. */
export function curveThrough(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = rest.pop();
  if (!first || !last) return '';
  const parts = rest.map((point, index) => {
    const next = rest[index + 1];
    const end = next ? { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 } : last;
    return `Q${point.x},${point.y} ${end.x},${end.y}`;
  });
  return [`M${first.x},${first.y}`, ...(parts.length > 0 ? parts : [`L${last.x},${last.y}`])].join(' ');
}
