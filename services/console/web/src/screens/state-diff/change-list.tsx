import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { JsonChangeView } from '../../components/json-change-view.tsx';
import type { JsonChange } from '../../components/json-diff.ts';

const ROW_PX = 96;

/** The differences of two states, each with its place, the nodes that wrote there, and both values. */
export function ChangeList({
  changes,
  writers,
}: {
  changes: readonly JsonChange[];
  writers: ReadonlyMap<string, readonly string[]> | null;
}) {
  const scroller = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: changes.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 5,
  });
  return (
    <section
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
      tabIndex={0}
      aria-label="Differences"
      className="max-h-[70vh] overflow-auto rounded border border-line bg-card"
    >
      <div style={{ height: virtualizer.getTotalSize() }} className="relative">
        {virtualizer.getVirtualItems().map(({ index, start }) => (
          <article
            key={index}
            ref={virtualizer.measureElement}
            data-index={index}
            style={{ transform: `translateY(${start}px)` }}
            className="absolute inset-x-0 top-0 border-b border-line p-3"
          >
            <JsonChangeView change={changes[index]!} whole="the whole state">
              <Writers names={writers?.get(String(changes[index]!.path[0])) ?? []} />
            </JsonChangeView>
          </article>
        ))}
      </div>
    </section>
  );
}

function Writers({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <span className="text-faint">
      written by <strong>{names.join(', ')}</strong>
    </span>
  );
}
