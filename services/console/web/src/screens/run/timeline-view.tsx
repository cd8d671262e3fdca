import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useCallback, useEffect, useId, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import type { RunFeed } from './run-feed.ts';
import { ROW_PX, TimelineRow } from './timeline-row.tsx';
import { useFeed } from './use-run-feed.ts';

interface TimelineViewProps {
  feed: RunFeed;
  selected: string | undefined;
  onSelect: (id: string) => void;
  startedAt: number | undefined;
  isRunning: boolean;
}

/** Nearer to the end than this is at the end. */
const END_PX = ROW_PX * 1.5;

/**
 * The timeline of a run as a tree, of any size. While it grows it follows its end, as long as one is there; who looks at
 * something else is not moved.
 */
export function TimelineView({ feed, selected, onSelect, startedAt, isRunning }: TimelineViewProps) {
  const id = useId();
  const { rows } = useFeed(feed, (snapshot) => snapshot);
  const scroller = useRef<HTMLDivElement>(null);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const [hasScrolled, setHasScrolled] = useState(false);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => rows[index]!.id,
    overscan: 10,
  });
  const place = selected === undefined ? -1 : rows.findIndex((row) => row.id === selected);
  const isFollowing = isRunning && isAtEnd;
  useEffect(() => {
    if (isFollowing && rows.length > 0) virtualizer.scrollToIndex(rows.length - 1, { align: 'end' });
  }, [isFollowing, rows.length, virtualizer]);
  useEffect(() => {
    // A selection that a link brought is scrolled to once, as soon as it is there.
    if (hasScrolled || place < 0) return;
    setHasScrolled(true);
    virtualizer.scrollToIndex(place, { align: 'auto' });
  }, [hasScrolled, place, virtualizer]);
  const onScroll = () => {
    const { scrollTop, clientHeight, scrollHeight } = scroller.current!;
    setIsAtEnd(scrollTop + clientHeight >= scrollHeight - END_PX);
  };
  const select = useCallback(
    (id: string) => {
      setHasScrolled(true);
      onSelect(id);
    },
    [onSelect],
  );
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const target = moveFrom(place, rows, event.key);
    if (target === undefined || !rows[target]) return;
    event.preventDefault();
    select(rows[target].id);
    virtualizer.scrollToIndex(target, { align: 'auto' });
  };
  return (
    <div className="relative flex min-h-0 min-w-0 grow flex-col">
      <div
        ref={scroller}
        role="tree"
        aria-label="Timeline"
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
        {...(place >= 0 && { 'aria-activedescendant': `${id}-${place}` })}
        className="group min-h-0 grow overflow-x-hidden overflow-y-auto rounded border border-line bg-card"
      >
        <div role="presentation" style={{ height: virtualizer.getTotalSize() }} className="relative">
          {virtualizer.getVirtualItems().map(({ index, key, start }) => {
            const row = rows[index]!;
            const entry = feed.timeline.get(row.id)!;
            return (
              <TimelineRow
                key={key}
                domId={`${id}-${index}`}
                entry={entry}
                level={row.level}
                position={row.position}
                siblings={isRunning ? -1 : row.siblings}
                top={start}
                isSelected={index === place}
                startedAt={startedAt}
                isRunning={isRunning}
                onSelect={select}
              />
            );
          })}
        </div>
      </div>
      {isRunning && !isAtEnd && (
        <div className="absolute right-4 bottom-3">
          <Button size="small" onClick={() => setIsAtEnd(true)}>
            Follow the end ↓
          </Button>
        </div>
      )}
    </div>
  );
}

/** Rows that a page of the keyboard moves. */
const PAGE_ROWS = 10;

/** Returns the row to which a key leads; undefined where it leads to none. */
function moveFrom(place: number, rows: readonly { level: number }[], key: string): number | undefined {
  const last = rows.length - 1;
  const moves: Record<string, () => number> = {
    ArrowDown: () => Math.min(last, place + 1),
    j: () => Math.min(last, place + 1),
    ArrowUp: () => Math.max(0, place - 1),
    k: () => Math.max(0, place - 1),
    PageDown: () => Math.min(last, place + PAGE_ROWS),
    PageUp: () => Math.max(0, place - PAGE_ROWS),
    Home: () => 0,
    End: () => last,
    ArrowRight: () => Math.min(last, place + 1),
    ArrowLeft: () => {
      const { level } = rows[place] ?? { level: 0 };
      const outer = rows.findLastIndex((row, index) => index < place && row.level < level);
      return outer < 0 ? Math.max(0, place) : outer;
    },
  };
  return moves[key]?.();
}
