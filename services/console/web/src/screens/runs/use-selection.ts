import type { JournalRun } from '@runyard/contracts';
import { useCallback, useMemo, useRef, useState } from 'react';

/** Runs that are chosen among those shown. */
export interface Selection {
  size: number;
  /** The chosen runs, as they are now. */
  runs: readonly JournalRun[];
  has(runId: string): boolean;
  /** Chooses a run, or with `isRange` all from the one chosen before. */
  select(index: number, isSelected: boolean, isRange: boolean): void;
  selectAll(isSelected: boolean): void;
}

export function useSelection(runs: readonly JournalRun[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const anchor = useRef<string>(undefined);
  const shown = useRef(runs);
  shown.current = runs;
  const select = useCallback((index: number, isSelected: boolean, isRange: boolean) => {
    const runs = shown.current;
    const from = isRange ? runs.findIndex(({ run_id: id }) => id === anchor.current) : -1;
    const [first, last] = from < 0 ? [index, index] : [Math.min(from, index), Math.max(from, index)];
    anchor.current = runs[index]?.run_id;
    setChosen((chosen) => {
      const next = new Set(chosen);
      for (const { run_id: id } of runs.slice(first, last + 1)) {
        if (isSelected) next.add(id);
        else next.delete(id);
      }
      return next;
    });
  }, []);
  const selectAll = useCallback((isSelected: boolean) => {
    setChosen(new Set(isSelected ? shown.current.map(({ run_id: id }) => id) : []));
  }, []);
  return useMemo(() => {
    // Runs that are shown no more, such as after a change of the filters, are not acted on.
    const selected = runs.filter(({ run_id: id }) => chosen.has(id));
    const has = (id: string) => chosen.has(id);
    return { size: selected.length, runs: selected, has, select, selectAll };
  }, [runs, chosen, select, selectAll]);
}
