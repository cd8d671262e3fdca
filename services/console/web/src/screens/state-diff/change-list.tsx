import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import type { JsonChange } from '../../components/json-diff.ts';
import { JsonView } from '../../components/json-view.tsx';

const KINDS = {
  added: { sign: '+', word: 'Added', colour: 'text-good' },
  removed: { sign: '−', word: 'Removed', colour: 'text-fault' },
  changed: { sign: '±', word: 'Changed', colour: 'text-wait' },
};
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
            <Change change={changes[index]!} writers={writers?.get(String(changes[index]!.path[0])) ?? []} />
          </article>
        ))}
      </div>
    </section>
  );
}

function Change({
  change: { path, kind, before, after },
  writers,
}: {
  change: JsonChange;
  writers: readonly string[];
}) {
  const { sign, word, colour } = KINDS[kind];
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className={`font-semibold ${colour}`}>
          <span aria-hidden="true">{sign}</span> {word}
        </span>
        <code className="min-w-0 break-all">{path.length > 0 ? path.join(' › ') : 'the whole state'}</code>
        {writers.length > 0 && (
          <span className="text-faint">
            written by <strong>{writers.join(', ')}</strong>
          </span>
        )}
      </p>
      <div className={`grid min-w-0 gap-2 ${kind === 'changed' ? 'md:grid-cols-2' : ''}`}>
        {kind !== 'added' && <JsonView name="before" value={before} />}
        {kind !== 'removed' && <JsonView name="after" value={after} />}
      </div>
    </div>
  );
}
