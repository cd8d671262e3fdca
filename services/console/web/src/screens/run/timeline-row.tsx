import { memo } from 'react';
import { formatDuration } from '../../components/time.tsx';
import type { Entry, EntryKind } from './timeline.ts';

export const KIND_NAMES: Record<EntryKind, string> = {
  attempt: 'Attempt',
  checkpoint: 'Checkpoint',
  task: 'Node',
  message: 'Model message',
  tool: 'Tool call',
  interrupt: 'Interrupt',
  custom: 'Custom event',
  error: 'Error',
  gap: 'Gap',
};
const SIGNS: Record<EntryKind, string> = {
  attempt: '↻',
  checkpoint: '◆',
  task: '▣',
  message: '❝',
  tool: '⚙',
  interrupt: '?',
  custom: '•',
  error: '✕',
  gap: '⋯',
};

export const ROW_PX = 32;
const LEVELS_SHOWN = 8;

interface TimelineRowProps {
  domId: string;
  entry: Entry;
  level: number;
  position: number;
  /** The number of its siblings; -1 as long as others may come. */
  siblings: number;
  top: number;
  isSelected: boolean;
  /** The start of the run, from which the times of its entries count. */
  startedAt: number | undefined;
  isRunning: boolean;
  onSelect: (id: string) => void;
}

/** A line of a timeline. It is drawn again only when its entry was replaced, and not when others come. */
export const TimelineRow = memo(function TimelineRow(props: TimelineRowProps) {
  const { domId, entry, level, position, siblings, top, isSelected, startedAt, isRunning, onSelect } = props;
  const status = statusText(entry, isRunning);
  const duration =
    entry.startedAt !== undefined && entry.endedAt !== undefined ? entry.endedAt - entry.startedAt : undefined;
  const at = entry.startedAt ?? entry.order[0];
  const isQuiet = entry.kind === 'checkpoint';
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard is with the tree
    <div
      id={domId}
      role="treeitem"
      tabIndex={-1}
      aria-level={level}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-selected={isSelected}
      onClick={() => onSelect(entry.id)}
      style={{ transform: `translateY(${top}px)`, height: ROW_PX }}
      className={`absolute inset-x-0 top-0 flex cursor-pointer items-center gap-2 overflow-hidden border-b border-line px-2 whitespace-nowrap hover:bg-raised aria-selected:bg-chosen aria-selected:outline-offset-[-2px] group-focus-visible:aria-selected:outline-2 group-focus-visible:aria-selected:outline-action ${isQuiet ? 'text-faint' : ''}`}
    >
      <span style={{ width: `${Math.min(level - 1, LEVELS_SHOWN)}rem` }} className="shrink-0" />
      <span aria-hidden="true" className={`w-4 shrink-0 text-center ${COLOURS[entry.status ?? ''] ?? 'text-faint'}`}>
        {SIGNS[entry.kind]}
      </span>
      <span className="sr-only">{KIND_NAMES[entry.kind]}</span>
      <span className={`max-w-[60%] truncate ${isQuiet ? '' : 'font-medium'}`}>{entry.title}</span>
      {status && <span className={`text-xs ${COLOURS[entry.status ?? ''] ?? 'text-faint'}`}>{status}</span>}
      <span className="min-w-0 grow truncate text-xs text-faint">{lastWords(entry)}</span>
      {duration !== undefined && <span className="text-xs text-faint tabular-nums">{formatDuration(duration)}</span>}
      {startedAt !== undefined && entry.order[0] < Number.MAX_SAFE_INTEGER && (
        <span className="hidden w-20 shrink-0 text-right text-xs text-faint tabular-nums sm:inline">
          +{formatDuration(Math.max(0, at - startedAt))}
        </span>
      )}
    </div>
  );
});

const COLOURS: Record<string, string> = {
  success: 'text-good',
  running: 'text-wait',
  waiting: 'text-wait',
  error: 'text-fault',
};

/** Says how something stands; what was not finished when its run ended will never be. */
export function statusText({ status, kind }: Entry, isRunning: boolean): string | undefined {
  if (status === 'running' && !isRunning) return 'not finished';
  if (status === 'waiting' && !isRunning) return 'interrupted';
  if (status === 'running' && kind === 'message') return 'writing';
  if (status === 'success') return kind === 'interrupt' ? 'answered' : undefined;
  return status === 'error' ? 'failed' : status;
}

const SHOWN_MAX = 200;

/** Returns the part of a text that fits a line: the end of one that is being written. */
function lastWords({ text, status }: Entry): string | undefined {
  if (text === undefined || text.length <= SHOWN_MAX) return text;
  return status === 'running' ? `… ${text.slice(-SHOWN_MAX)}` : text.slice(0, SHOWN_MAX);
}
