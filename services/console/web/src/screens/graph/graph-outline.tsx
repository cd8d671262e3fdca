import { useMemo } from 'react';
import { type GraphModel, outlineOf } from './graph-model.ts';
import type { RunPosition } from './node-status.ts';
import { sayPosition } from './node-status.ts';

interface GraphOutlineProps {
  model: GraphModel;
  position?: RunPosition | undefined;
}

/** A graph in words: each node, and the nodes that it leads to. */
export function GraphOutline({ model, position }: GraphOutlineProps) {
  const lines = useMemo(() => outlineOf(model), [model]);
  return (
    <details>
      <summary className="w-fit cursor-pointer text-xs text-faint">The graph as a list</summary>
      <ul aria-label="Nodes of the graph" className="mt-2 flex list-disc flex-col gap-1 pl-6">
        {lines.map(({ id, name, leadsTo }) => {
          const standing = position?.get(id);
          return (
            <li key={id} className="break-words">
              <strong>{name}</strong>
              {standing && <span className="text-faint"> ({sayPosition(standing)})</span>}
              {leadsTo.length > 0 &&
                ` leads to ${leadsTo.map(({ name, condition, isConditional }) => (isConditional ? `${name} (${condition === undefined ? 'on a condition' : `if ${condition}`})` : name)).join(', ')}`}
            </li>
          );
        })}
      </ul>
    </details>
  );
}
