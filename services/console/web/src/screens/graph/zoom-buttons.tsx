import { type FitViewOptions, useReactFlow } from '@xyflow/react';
import { Button } from '../../components/button.tsx';

/** The buttons of a drawing. */
export function ZoomButtons({ fit }: { fit: FitViewOptions }) {
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  return (
    <div className="absolute top-2 right-2 z-10 flex gap-1">
      <Button size="small" aria-label="Zoom in" onClick={() => void zoomIn()}>
        +
      </Button>
      <Button size="small" aria-label="Zoom out" onClick={() => void zoomOut()}>
        −
      </Button>
      <Button size="small" onClick={() => void fitView(fit)}>
        Fit
      </Button>
    </div>
  );
}
