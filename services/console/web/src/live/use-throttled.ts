import { useCallback, useEffect, useRef } from 'react';

const EVERY_MS = 1_000;

/**
 * Returns a function that calls at once, and then once a second at most: the last call is never lost, unless the part of
 * the page that made it has gone.
 */
export function useThrottled(action: () => void): () => void {
  const newest = useRef(action);
  newest.current = action;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isDue = useRef(false);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return useCallback(() => {
    const call = () => {
      isDue.current = false;
      timer.current = setTimeout(() => {
        timer.current = undefined;
        if (isDue.current) call();
      }, EVERY_MS);
      newest.current();
    };
    if (timer.current === undefined) call();
    else isDue.current = true;
  }, []);
}
