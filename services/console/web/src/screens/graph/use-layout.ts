import { useEffect, useState } from 'react';
import { trustWorkerUrl } from '../../worker-url.ts';
import type { Direction, GraphLayout } from './graph-layout.ts';
import type { GraphModel } from './graph-model.ts';
import workerUrl from './layout.worker.ts?worker&url';

/** A message to the worker that lays graphs out. Its answer is the layout. */
export interface LayoutRequest {
  model: GraphModel;
  direction: Direction;
}

const MAX_MS = 30_000;

/**
 * Lays a graph out in a worker, as a large one would hold the page up. Returns undefined until that is done.
 *
 * @throws Error when it fails or takes too long, to be caught by the boundary around the drawing
 */
export function useLayout(model: GraphModel, direction: Direction): GraphLayout | undefined {
  const [layout, setLayout] = useState<GraphLayout>();
  const [error, setError] = useState<Error>();
  useEffect(() => {
    const worker = new Worker(trustWorkerUrl(workerUrl), { type: 'module', name: 'runyard graph' });
    const end = () => {
      clearTimeout(timer);
      worker.terminate();
    };
    const fail = (reason: string) => {
      end();
      setError(new Error(`The graph cannot be drawn: ${reason}`));
    };
    const timer = setTimeout(() => fail('it is too large'), MAX_MS);
    worker.onmessage = ({ data }: MessageEvent<GraphLayout>) => {
      end();
      setLayout(data);
    };
    worker.onerror = ({ message }) => fail(message ?? 'its worker could not be loaded');
    worker.postMessage({ model, direction } satisfies LayoutRequest);
    return end;
  }, [model, direction]);
  if (error) throw error;
  return layout;
}
