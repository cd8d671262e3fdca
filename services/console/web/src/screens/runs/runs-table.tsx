import type { JournalRun } from '@runyard/contracts';
import { useElementScrollRestoration } from '@tanstack/react-router';
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { COLUMN_NAMES, COLUMNS, ROW_PX, RunRow, TOKENS } from './run-row.tsx';
import type { Selection } from './use-selection.ts';

interface RunsTableProps {
  scroller: RefObject<HTMLDivElement | null>;
  runs: readonly JournalRun[];
  workspaceId: string;
  deploymentNames: ReadonlyMap<string, string>;
  selection: Selection;
  /** True where another page can be asked for, and is not on its way. */
  hasMore: boolean;
  onMore: () => void;
}

const SCROLL_ID = 'runs';
/** Rows before the end at which the next page is asked for. */
const AHEAD = 20;

/** Runs as a table of any length. j and k, or the arrows, lead from row to row; Enter opens a run. */
export function RunsTable(props: RunsTableProps) {
  const { scroller, runs, workspaceId, deploymentNames, selection, hasMore, onMore } = props;
  const kept = useElementScrollRestoration({ id: SCROLL_ID });
  const [focused, setFocused] = useState<number>();
  const extract = useCallback(
    (range: Range) => {
      const shown = defaultRangeExtractor(range);
      // A row that has the focus stays, however far one scrolls.
      if (focused === undefined || focused >= range.count || shown.includes(focused)) return shown;
      return [...shown, focused].sort((a, b) => a - b);
    },
    [focused],
  );
  const virtualizer = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => runs[index]!.run_id,
    initialOffset: kept?.scrollY ?? 0,
    rangeExtractor: extract,
    overscan: 10,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= runs.length - AHEAD) onMore();
  }, [hasMore, last, runs.length, onMore]);
  useRowKeys(scroller, runs.length, (index) => {
    virtualizer.scrollToIndex(index);
    setFocused(index);
  });
  useEffect(() => {
    if (focused === undefined) return;
    const row = scroller.current?.querySelector(`[data-index="${focused}"]`);
    if (!row?.contains(document.activeElement))
      row?.querySelector<HTMLElement>('[data-open]')?.focus({ preventScroll: true });
  }, [focused, scroller]);
  return (
    <div
      ref={scroller}
      data-scroll-restoration-id={SCROLL_ID}
      className="absolute inset-0 overflow-auto rounded border border-line bg-card"
    >
      {/* biome-ignore lint/a11y/useSemanticElements: rows of a real table cannot be placed one by one */}
      <div
        role="table"
        aria-label="Runs"
        aria-rowcount={hasMore ? -1 : runs.length + 1}
        className="min-w-[82rem] md:min-w-[88rem]"
        onFocus={({ target }) => setFocused(indexOf(target))}
      >
        <Header {...{ runs, selection }} />
        {/* biome-ignore lint/a11y/useSemanticElements: see above */}
        <div role="rowgroup" style={{ height: virtualizer.getTotalSize() }} className="relative">
          {items.map(({ index, key, start }) => {
            const run = runs[index]!;
            return (
              <RunRow
                key={key}
                run={run}
                index={index}
                top={start}
                workspaceId={workspaceId}
                deploymentName={deploymentNames.get(run.deployment_id)}
                isSelected={selection.has(run.run_id)}
                onSelect={selection.select}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Header({ runs, selection }: Pick<RunsTableProps, 'runs' | 'selection'>) {
  const box = useRef<HTMLInputElement>(null);
  const isAll = runs.length > 0 && selection.size >= runs.length;
  useEffect(() => {
    box.current!.indeterminate = selection.size > 0 && !isAll;
  }, [selection.size, isAll]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: see the table
    <div role="rowgroup" className="sticky top-0 z-10 border-b border-line bg-card text-xs font-semibold">
      {/* biome-ignore lint/a11y/useSemanticElements: see the table */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: what is in it takes the focus */}
      <div role="row" aria-rowindex={1} className={`h-9 ${COLUMNS}`}>
        {/* biome-ignore lint/a11y/useSemanticElements: see the table */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: what is in it takes the focus */}
        <div role="columnheader" className="px-2">
          <input
            ref={box}
            type="checkbox"
            aria-label="Select all runs that are shown"
            checked={isAll}
            onChange={() => selection.selectAll(!isAll)}
            className="size-4 accent-action"
          />
        </div>
        {COLUMN_NAMES.map((name) => (
          // biome-ignore lint/a11y/useSemanticElements: see the table
          // biome-ignore lint/a11y/useFocusableInteractive: nothing can be done with it
          <div
            key={name}
            role="columnheader"
            className={`px-2 ${/Queue|Duration|Attempt|Tokens/.test(name) ? 'text-right' : ''} ${name === TOKENS ? 'max-md:hidden' : ''}`}
          >
            {name}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Moves the focus from row to row by keys: j and k from anywhere on the page, arrows within the table. */
function useRowKeys(scroller: RefObject<HTMLElement | null>, count: number, onMove: (index: number) => void): void {
  const newest = useRef({ count, onMove });
  newest.current = { count, onMove };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target, key, metaKey, ctrlKey, altKey } = event;
      if (metaKey || ctrlKey || altKey || !(target instanceof HTMLElement)) return;
      const isInside = scroller.current?.contains(target) ?? false;
      if (!isInside && target.closest('input, textarea, select, [role="dialog"], [role="menu"]')) return;
      const step =
        key === 'j' || (isInside && key === 'ArrowDown') ? 1 : key === 'k' || (isInside && key === 'ArrowUp') ? -1 : 0;
      const { count, onMove } = newest.current;
      if (step === 0 || count === 0) return;
      event.preventDefault();
      const from = indexOf(target);
      onMove(from === undefined ? 0 : Math.max(0, Math.min(count - 1, from + step)));
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [scroller]);
}

function indexOf(target: Element): number | undefined {
  const row = target.closest<HTMLElement>('[data-index]');
  return row ? Number(row.dataset.index) : undefined;
}
