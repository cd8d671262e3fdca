import { type KeyboardEvent, useId, useMemo, useState } from 'react';
import { CopyButton } from './copy-button.tsx';
import { firstOpen, type JsonRow, jsonRows } from './json-rows.ts';

export interface JsonViewProps {
  /** Any JSON. */
  value: unknown;
  /** Names the tree and its copy button: `input`, `state`. */
  name?: string;
}

/**
 * A JSON value as a tree that opens level by level; long lists and texts come in parts. Arrows move and open, Enter opens
 * and closes. What is open stays so while the value changes.
 */
export function JsonView({ value, name = 'value' }: JsonViewProps) {
  const id = useId();
  const [open, setOpen] = useState(() => firstOpen(value));
  const [active, setActive] = useState('');
  const rows = useMemo(() => jsonRows(value, name, open), [value, name, open]);
  const current = Math.max(
    0,
    rows.findIndex(({ path }) => path === active),
  );
  const toggle = ({ path, isBranch }: JsonRow) => {
    setActive(path);
    if (!isBranch) return;
    setOpen((open) => {
      const next = new Set(open);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const row = rows[current]!;
    const target = moveFrom(rows, current, event.key);
    if (event.key === 'Enter' || event.key === ' ') toggle(row);
    else if (event.key === 'ArrowRight' && row.isBranch && !row.isOpen) toggle(row);
    else if (event.key === 'ArrowLeft' && row.isOpen) toggle(row);
    else if (target === undefined) return;
    else {
      setActive(rows[target]!.path);
      document.getElementById(`${id}-${target}`)?.scrollIntoView({ block: 'nearest' });
    }
    event.preventDefault();
  };
  return (
    <div className="relative min-w-0 rounded border border-line bg-card font-mono text-xs">
      <div className="absolute top-1 right-1 z-10">
        <CopyButton what={name} text={() => JSON.stringify(value, null, 2) ?? ''} />
      </div>
      <div
        role="tree"
        aria-label={name}
        tabIndex={0}
        aria-activedescendant={`${id}-${current}`}
        onKeyDown={onKeyDown}
        className="group max-h-[60vh] overflow-auto p-2 pr-16"
      >
        {rows.map((row, index) => (
          <Row
            key={row.path}
            id={`${id}-${index}`}
            row={row}
            isActive={index === current}
            onToggle={() => toggle(row)}
          />
        ))}
      </div>
    </div>
  );
}

/** Returns the line to which a key leads; undefined where it leads to none. */
function moveFrom(rows: readonly JsonRow[], current: number, key: string): number | undefined {
  if (key === 'ArrowDown' || key === 'ArrowRight') return Math.min(rows.length - 1, current + 1);
  if (key === 'ArrowUp') return Math.max(0, current - 1);
  if (key === 'Home') return 0;
  if (key === 'End') return rows.length - 1;
  if (key !== 'ArrowLeft') return undefined;
  const { level } = rows[current]!;
  const parent = rows.findLastIndex((row, index) => index < current && row.level < level);
  return Math.max(0, parent);
}

interface RowProps {
  id: string;
  row: JsonRow;
  isActive: boolean;
  onToggle: () => void;
}

function Row({ id, row, isActive, onToggle }: RowProps) {
  const { name, level, position, siblings, value, isBranch, isOpen, summary } = row;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard is with the tree
    <div
      id={id}
      role="treeitem"
      tabIndex={-1}
      aria-level={level}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-selected={isActive}
      {...(isBranch && { 'aria-expanded': isOpen })}
      onClick={() => window.getSelection()?.isCollapsed !== false && onToggle()}
      style={{ paddingLeft: `${level - 1}rem` }}
      className={`flex min-w-0 gap-1 rounded leading-5 outline-offset-[-1px] ${isBranch ? 'cursor-pointer hover:bg-raised' : ''} ${isActive ? 'group-focus-visible:outline-2 group-focus-visible:outline-action' : ''}`}
    >
      <span aria-hidden="true" className="w-3 shrink-0 text-faint">
        {isBranch ? (isOpen ? '▾' : '▸') : ''}
      </span>
      <span className="min-w-0 break-words whitespace-pre-wrap">
        {name !== '' && <span className="text-action">{name}</span>}
        {isBranch ? (
          summary && <span className="text-faint"> {summary}</span>
        ) : (
          <>
            {name !== '' && <span className="text-faint">: </span>}
            <Leaf value={value} />
          </>
        )}
      </span>
    </div>
  );
}

/** A value without parts. */
function Leaf({ value }: { value: unknown }) {
  if (typeof value === 'string') return <span className="text-good">{JSON.stringify(value)}</span>;
  if (typeof value === 'number' || typeof value === 'boolean')
    return <span className="text-wait">{String(value)}</span>;
  return <span className="text-faint">{value === undefined ? 'undefined' : JSON.stringify(value)}</span>;
}
