import type { LogEntry } from '@runyard/contracts';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { heightOf, type LogLayout, layoutOf, type RowHeight } from './log-view-layout.ts';
import { LOG_LETTERS, LogViewRow, type LogViewRowProps } from './log-view-row.tsx';

/** The border and the space above and below the lines. */
const FRAME_PX = 10;
const OVERSCAN = 6;
/** From here on, lines that come are followed. */
const NEAR_END_PX = 40;
/** So far before the oldest line, older ones are asked for. */
const NEAR_START_PX = 600;
const RULER = '0'.repeat(100);

export interface LogViewProps {
  label: string;
  /** Oldest first. */
  entries: readonly LogEntry[];
  linkOf?: LogViewRowProps['linkOf'];
  /** Called when the oldest line comes into sight. */
  onOlder?: (() => void) | undefined;
  /** The classes that give the height. */
  className?: string;
}

/**
 * Lines of a log, of which only those in sight are in the page. It follows new lines while the last one is in sight;
 * else the lines in sight stay where they are, whatever comes before or after them.
 */
export function LogView({ label, entries, linkOf, onOlder, className = 'h-80' }: LogViewProps) {
  const frame = useRef<HTMLDivElement>(null);
  const ruler = useRef<HTMLSpanElement>(null);
  const layout = useLogLayout(frame, ruler);
  const rowHeight = useRowHeights(layout, linkOf);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const lines = useVirtualizer({
    count: entries.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => rowHeight(entries[index]!).px,
    getItemKey: useCallback((index: number) => entries[index]?.id ?? index, [entries]),
    overscan: OVERSCAN,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: NEAR_END_PX,
  });
  const hasLines = entries.length > 0;
  // Another layout gives every line another height.
  useLayoutEffect(() => lines.measure(), [lines, layout]);
  useLayoutEffect(() => {
    if (hasLines) lines.scrollToEnd();
  }, [hasLines, lines]);
  const height = lines.getTotalSize();
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = frame.current!;
    setIsAtEnd(scrollHeight - scrollTop - clientHeight <= NEAR_END_PX);
    if (scrollTop < NEAR_START_PX && scrollHeight > clientHeight) onOlder?.();
  };
  return (
    <div className={`relative min-w-0 ${className}`} style={{ maxHeight: height + FRAME_PX }}>
      <div
        ref={frame}
        role="log"
        aria-label={label}
        aria-live={isAtEnd ? 'polite' : 'off'}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
        tabIndex={0}
        onScroll={onScroll}
        className={`relative h-full overflow-x-hidden overflow-y-auto rounded border border-line bg-card py-1 [overflow-anchor:none] ${LOG_LETTERS}`}
      >
        <span ref={ruler} aria-hidden="true" className="invisible absolute">
          {RULER}
        </span>
        <div className="relative w-full" style={{ height }}>
          {lines.getVirtualItems().map(({ index, key, start }) => {
            const entry = entries[index];
            if (!entry) return null;
            return (
              <div
                key={key}
                data-index={index}
                ref={rowHeight(entry).isGuess ? lines.measureElement : undefined}
                className="absolute top-0 left-0 w-full"
                style={{ transform: `translateY(${start}px)` }}
              >
                <LogViewRow entry={entry} layout={layout} linkOf={linkOf} />
              </div>
            );
          })}
        </div>
      </div>
      {!isAtEnd && (
        <Button size="small" className="absolute right-4 bottom-3 shadow" onClick={() => lines.scrollToEnd()}>
          <span aria-hidden="true">↓</span> Newest line
        </Button>
      )}
    </div>
  );
}

/** Returns the layout for the frame as it is at the moment, in the letters that this browser has. */
function useLogLayout(frame: RefObject<HTMLElement | null>, ruler: RefObject<HTMLElement | null>): LogLayout {
  const [layout, setLayout] = useState(() => layoutOf(0, { widthPx: 0, heightPx: 0 }));
  useLayoutEffect(() => {
    const read = () => {
      const { width, height } = ruler.current!.getBoundingClientRect();
      const next = layoutOf(frame.current!.clientWidth, { widthPx: width / RULER.length, heightPx: height });
      setLayout((layout) => (JSON.stringify(layout) === JSON.stringify(next) ? layout : next));
    };
    read();
    const observer = new ResizeObserver(read);
    observer.observe(frame.current!);
    observer.observe(ruler.current!);
    return () => observer.disconnect();
  }, [frame, ruler]);
  return layout;
}

/** Returns the function that says how high a line is, and finds that out once for each. */
function useRowHeights(layout: LogLayout, linkOf: LogViewProps['linkOf']): (entry: LogEntry) => RowHeight {
  return useMemo(() => {
    const known = new WeakMap<LogEntry, RowHeight>();
    return (entry) => {
      const found = known.get(entry) ?? heightOf(entry, layout, linkOf?.(entry)?.text);
      known.set(entry, found);
      return found;
    };
  }, [layout, linkOf]);
}
