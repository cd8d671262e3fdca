import { type Edge, type Node, ReactFlow, ReactFlowProvider } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import { useMemo, useRef } from 'react';
import { Loading } from '../../components/loading.tsx';
import { ArrowHead, EdgeLine, type EdgeLineData } from './edge-line.tsx';
import type { Direction, GraphLayout } from './graph-layout.ts';
import { fullNameOf, type GraphModel } from './graph-model.ts';
import { GroupBox, NodeBox, type NodeBoxData } from './node-box.tsx';
import type { RunPosition } from './node-status.ts';
import { sayPosition } from './node-status.ts';
import { useLayout } from './use-layout.ts';
import { ZoomButtons } from './zoom-buttons.tsx';

export interface GraphCanvasProps {
  model: GraphModel;
  direction: Direction;
  /** How the nodes stand in a run; undefined for the graph of no run. */
  position?: RunPosition | undefined;
}

const NODE_TYPES = { subgraph: GroupBox, node: NodeBox };
const EDGE_TYPES = { line: EdgeLine };
const FIT = { padding: 0.08, maxZoom: 1 };
const ROOM = 1 + 2 * FIT.padding;
/** The buttons need some room too. */
const SMALLEST_PX = 110;
const WORDS = {
  'node.a11yDescription.default': 'A node of the graph. The list below says where it leads.',
  'node.a11yDescription.keyboardDisabled': 'A node of the graph. The list below says where it leads.',
};

/** The drawing of a graph. It comes in a file of its own, with all that draws, for the pages that show one. */
export default function GraphCanvas({ model, direction, position }: GraphCanvasProps) {
  const layout = useLayout(model, direction);
  return layout ? <Drawing {...{ layout, direction, position }} /> : <Loading what="the drawing" />;
}

function Drawing({ layout, direction, position }: Omit<GraphCanvasProps, 'model'> & { layout: GraphLayout }) {
  const isMoved = useRef(false);
  const nodes = useMemo(() => nodesOf(layout, direction, position), [layout, direction, position]);
  const edges = useMemo(() => edgesOf(layout), [layout]);
  return (
    <ReactFlowProvider>
      <div style={{ height: heightOf(layout, direction) }} className="relative">
        <ArrowHead />
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          fitView
          fitViewOptions={FIT}
          minZoom={0.1}
          maxZoom={2}
          nodesDraggable={false}
          nodesConnectable={false}
          elementsSelectable={false}
          edgesFocusable={false}
          // The wheel scrolls the page; the drawing is zoomed by its buttons, or with two fingers.
          zoomOnScroll={false}
          zoomOnDoubleClick={false}
          preventScrolling={false}
          deleteKeyCode={null}
          ariaLabelConfig={WORDS}
          // A move that has no event is the page's own.
          onMoveStart={(event) => {
            isMoved.current ||= event !== null;
          }}
          proOptions={{ hideAttribution: true }}
          aria-label="Drawing of the graph"
        />
        <ZoomButtons fit={FIT} isMoved={isMoved} />
      </div>
    </ReactFlowProvider>
  );
}

/** Returns the room for a drawing: as much as it needs, and no more than leaves the rest of the page in sight. */
function heightOf({ size }: GraphLayout, direction: Direction): string {
  const most = direction === 'down' ? 'max(20rem, 60svh)' : '15rem';
  return `min(${Math.max(SMALLEST_PX, Math.ceil(size.height * ROOM))}px, ${most})`;
}

function nodesOf({ nodes, groups }: GraphLayout, direction: Direction, position: RunPosition | undefined): Node[] {
  const make = (
    type: keyof typeof NODE_TYPES,
    { id, name, group, box }: GraphLayout['groups'][number],
    kind: NodeBoxData['kind'],
  ): Node<NodeBoxData> => {
    const standing = position?.get(id);
    const words = [fullNameOf({ name, group }), type === 'subgraph' && 'a subgraph', standing && sayPosition(standing)];
    return {
      id: type === 'subgraph' ? `group ${id}` : id,
      type,
      position: { x: box.x, y: box.y },
      width: box.width,
      height: box.height,
      // Groups lie below the edges, and these below the nodes.
      zIndex: type === 'subgraph' ? 0 : 2,
      ariaLabel: words.filter(Boolean).join(', '),
      data: { name, kind, direction, position: standing },
    };
  };
  return [
    ...groups.map((group) => make('subgraph', group, 'node')),
    ...nodes.map((node) => make('node', node, node.kind)),
  ];
}

function edgesOf({ nodes, edges }: GraphLayout): Edge<EdgeLineData>[] {
  const names = new Map(nodes.map((node) => [node.id, fullNameOf(node)]));
  return edges.map(({ id, source, target, path, label, labelAt, isConditional }) => ({
    id,
    source,
    target,
    type: 'line',
    zIndex: 1,
    ariaLabel: `${names.get(source)} leads to ${names.get(target)}`,
    data: { path, label, labelAt, isConditional },
  }));
}
