import { type FitViewOptions, useReactFlow, useStore } from '@xyflow/react';
import { type RefObject, useEffect } from 'react';
import { Button } from '../../components/button.tsx';

interface ZoomButtonsProps {
  fit: FitViewOptions;
  /** True once somebody has chosen a part of the drawing. Until then all of it stays in sight, as its room changes. */
  isMoved: RefObject<boolean>;
}

/** The buttons of a drawing. */
export function ZoomButtons({ fit, isMoved }: ZoomButtonsProps) {
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  const room = useStore(({ width, height }) => `${width} ${height}`);
  useEffect(() => {
    if (!isMoved.current) void fitView(fit);
  }, [room, fitView, fit, isMoved]);
  const act = (move: () => Promise<boolean>, moves: boolean) => {
    isMoved.current = moves;
    void move();
  };
  return (
    <div className="absolute top-2 right-2 z-10 flex gap-1">
      <Button size="small" aria-label="Zoom in" onClick={() => act(zoomIn, true)}>
        +
      </Button>
      <Button size="small" aria-label="Zoom out" onClick={() => act(zoomOut, true)}>
        −
      </Button>
      <Button size="small" onClick={() => act(() => fitView(fit), false)}>
        Fit
      </Button>
    </div>
  );
}
