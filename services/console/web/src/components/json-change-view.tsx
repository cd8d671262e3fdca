import type { ReactNode } from 'react';
import type { JsonChange } from './json-diff.ts';
import { JsonView } from './json-view.tsx';

const KINDS = {
  added: { sign: '+', word: 'Added', colour: 'text-good' },
  removed: { sign: '−', word: 'Removed', colour: 'text-fault' },
  changed: { sign: '±', word: 'Changed', colour: 'text-wait' },
};

interface JsonChangeViewProps {
  change: JsonChange;
  /** Names the place of a change of everything: `the whole state`. */
  whole: string;
  /** Words beside the place. */
  children?: ReactNode;
}

/** A difference of two JSON values: its place, and both values side by side. */
export function JsonChangeView({ change: { path, kind, before, after }, whole, children }: JsonChangeViewProps) {
  const { sign, word, colour } = KINDS[kind];
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <span className={`font-semibold ${colour}`}>
          <span aria-hidden="true">{sign}</span> {word}
        </span>
        <code className="min-w-0 break-all">{path.length > 0 ? path.join(' › ') : whole}</code>
        {children}
      </p>
      <div className={`grid min-w-0 gap-2 ${kind === 'changed' ? 'md:grid-cols-2' : ''}`}>
        {kind !== 'added' && <JsonView name="before" value={before} />}
        {kind !== 'removed' && <JsonView name="after" value={after} />}
      </div>
    </div>
  );
}
