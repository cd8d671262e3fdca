import { useRef } from 'react';

const EVERY_MS = 1_000;

/** Calls at once, and then once a second at most; the last call is never lost. */
export function useThrottled(action: () => void): () => void {
  const newest = useRef(action);
  newest.current = action;
  const state = useRef({ at: 0, isPlanned: false });
  return () => {
    const { at, isPlanned } = state.current;
    if (isPlanned) return;
    state.current.isPlanned = true;
    setTimeout(
      () => {
        state.current = { at: Date.now(), isPlanned: false };
        newest.current();
      },
      Math.max(0, at + EVERY_MS - Date.now()),
    );
  };
}
