import { type Edge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react';
import type { PlacedEdge } from './graph-layout.ts';

export type EdgeLineData = Pick<PlacedEdge, 'path' | 'label' | 'labelAt' | 'isConditional'> & Record<string, unknown>;

const ARROW = 'graph-arrow';

/** An edge as it was laid out: a broken line where a condition decides on it, with what that is. */
export function EdgeLine({ data }: EdgeProps<Edge<EdgeLineData>>) {
  if (!data) return null;
  const { path, label, labelAt, isConditional } = data;
  return (
    <>
      <path
        d={path}
        markerEnd={`url(#${ARROW})`}
        strokeWidth={1.5}
        {...(isConditional && { strokeDasharray: '5 4' })}
        className="fill-none stroke-edge"
      />
      {label !== undefined && labelAt && (
        <EdgeLabelRenderer>
          <span
            style={{ transform: `translate(-50%, -50%) translate(${labelAt.x}px, ${labelAt.y}px)`, zIndex: 2 }}
            className="absolute rounded bg-card px-1 text-xs whitespace-nowrap text-faint"
          >
            {label}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  );
}

/** The head of the arrows, which all edges refer to. */
export function ArrowHead() {
  return (
    <svg aria-hidden="true" className="absolute size-0">
      <defs>
        <marker
          id={ARROW}
          viewBox="0 0 10 10"
          refX="9"
          refY="5"
          markerWidth="8"
          markerHeight="8"
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path d="M0,0 L10,5 L0,10 z" className="fill-edge" />
        </marker>
      </defs>
    </svg>
  );
}
