import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useLive } from '../../live/live.ts';

/** Usage changes all the time while runs go on, and is sums of much. */
const EVERY_MS = 10_000;

/** Asks for usage again after runs have changed. */
export function useUsageChanges(workspaceId: string): void {
  const queryClient = useQueryClient();
  const isDue = useRef(false);
  useLive({ kind: 'runs', workspaceId }, ({ event }) => {
    if (event === 'runs_changed') isDue.current = true;
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (!isDue.current || document.hidden) return;
      isDue.current = false;
      void queryClient.invalidateQueries({ queryKey: ['usage', workspaceId] });
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [queryClient, workspaceId]);
}
