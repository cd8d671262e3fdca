import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import type { Direction } from './graph-layout.ts';
import type { GraphNode } from './graph-model.ts';
import type { NodePosition } from './node-status.ts';
import { STATUS_LOOKS } from './node-status.ts';

export type NodeBoxData = {
  name: string;
  kind: GraphNode['kind'];
  direction: Direction;
  /** How it stands in the run; undefined where that has not come to it. */
  position: NodePosition | undefined;
};

/** A node with its name, and in a run the sign of how it stands. */
export function NodeBox({ data: { name, kind, direction, position } }: NodeProps<Node<NodeBoxData>>) {
  const look = position && STATUS_LOOKS[position.status];
  const isNow = position?.status === 'running' || position?.status === 'interrupted';
  const shape = kind === 'node' ? 'rounded bg-card' : 'rounded-full bg-raised text-faint';
  return (
    <div
      title={name}
      className={`flex size-full items-center justify-center gap-1.5 overflow-hidden px-2 ${shape} ${look ? `${look.colour} ${isNow ? 'border-3' : 'border-2'}` : 'border border-edge'}`}
    >
      <Sides direction={direction} />
      {look && <span aria-hidden="true">{look.sign}</span>}
      <span className={`truncate ${kind === 'node' ? 'font-medium text-text' : 'text-xs'}`}>{name}</span>
      <Times position={position} />
    </div>
  );
}

/** The frame around the nodes of a subgraph. */
export function GroupBox({ data: { name, position } }: NodeProps<Node<NodeBoxData>>) {
  const look = position && STATUS_LOOKS[position.status];
  return (
    <div className={`size-full rounded border-2 border-dashed bg-ground ${look?.colour ?? 'border-edge text-faint'}`}>
      <span className="absolute top-0 left-1 flex max-w-full -translate-y-1/2 items-center gap-1 truncate rounded bg-card px-1 text-xs">
        {look && <span aria-hidden="true">{look.sign}</span>}
        {name}
        <Times position={position} />
      </span>
    </div>
  );
}

function Times({ position }: { position: NodePosition | undefined }) {
  if (!position || position.times === 1) return null;
  return <span className="text-xs text-faint tabular-nums">×{position.times}</span>;
}

/** The points that edges are tied to. Their lines are laid out without these. */
function Sides({ direction }: { direction: Direction }) {
  const [from, to] = direction === 'down' ? [Position.Bottom, Position.Top] : [Position.Right, Position.Left];
  return (
    <>
      <Handle type="target" position={to} isConnectable={false} className="invisible" />
      <Handle type="source" position={from} isConnectable={false} className="invisible" />
    </>
  );
}
