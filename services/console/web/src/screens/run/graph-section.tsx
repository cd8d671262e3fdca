import { lazy, Suspense, useState } from 'react';
import { Loading } from '../../components/loading.tsx';
import type { RunPlace } from '../../platform/runs.ts';
import type { RunFeed } from './run-feed.ts';

const RunGraph = lazy(() => import('./run-graph.tsx'));
/** Whoever has closed the drawing once finds it closed on other runs. */
const CLOSED = 'run-graph-closed';

interface GraphSectionProps {
  place: RunPlace;
  assistantId: string;
  feed: RunFeed;
  isRunning: boolean;
}

/** The drawing of the graph of a run. It and what draws it are loaded while it is open. */
export function GraphSection({ place, assistantId, feed, isRunning }: GraphSectionProps) {
  const [isOpen, setIsOpen] = useState(() => window.localStorage.getItem(CLOSED) === null);
  const toggle = (isOpen: boolean) => {
    setIsOpen(isOpen);
    if (isOpen) window.localStorage.removeItem(CLOSED);
    else window.localStorage.setItem(CLOSED, 'true');
  };
  const { workspaceId, deploymentId } = place;
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => toggle(currentTarget.open)}>
      <summary className="w-fit cursor-pointer">
        <h2 className="inline text-sm font-semibold">Graph</h2>
      </summary>
      {isOpen && (
        <div className="mt-2">
          <Suspense fallback={<Loading what="the graph" />}>
            <RunGraph place={{ workspaceId, deploymentId, assistantId }} {...{ feed, isRunning }} />
          </Suspense>
        </div>
      )}
    </details>
  );
}
