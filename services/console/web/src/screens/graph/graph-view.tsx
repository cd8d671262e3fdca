import { useQuery } from '@tanstack/react-query';
import { CatchBoundary, type ErrorComponentProps } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { Fault } from '../../components/fault.tsx';
import { Loading } from '../../components/loading.tsx';
import { type AssistantPlace, graphDrawingQuery } from '../../platform/assistants.ts';
import type { Direction } from './graph-layout.ts';
import { modelOf } from './graph-model.ts';
import { GraphOutline } from './graph-outline.tsx';
import { nodesBeyond, type RunPosition } from './node-status.ts';

const GraphCanvas = lazy(() => import('./graph-canvas.tsx'));

interface GraphViewProps {
  place: AssistantPlace;
  direction: Direction;
  /** How its nodes stand in a run. */
  position?: RunPosition | undefined;
}

/** The graph of an assistant, as a drawing and in words. */
export function GraphView({ place, direction, position }: GraphViewProps) {
  const { data, error, isPending, refetch } = useQuery(graphDrawingQuery(place));
  const model = useMemo(() => data && modelOf(data), [data]);
  const beyond = useMemo(() => (model && position ? nodesBeyond(position, model) : []), [model, position]);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Fault error={error} onRetry={() => void refetch()} />
      {isPending && <Loading what="the graph" />}
      {model && (
        <>
          <div className="min-w-0 overflow-hidden rounded border border-line bg-card">
            <CatchBoundary getResetKey={() => place.assistantId} errorComponent={Undrawn}>
              <Suspense fallback={<Loading what="the drawing" />}>
                <GraphCanvas {...{ model, direction, position }} />
              </Suspense>
            </CatchBoundary>
          </div>
          <GraphOutline {...{ model, position }} />
        </>
      )}
      {beyond.length > 0 && (
        <p className="text-xs text-faint">
          Not in the graph as it is now, but in this run: <strong>{beyond.join(', ')}</strong>
        </p>
      )}
    </div>
  );
}

/** A line in place of a drawing that fails. The rest of the page, and the graph in words, stay. */
function Undrawn({ error, reset }: ErrorComponentProps) {
  return <Fault error={error} onRetry={reset} />;
}
