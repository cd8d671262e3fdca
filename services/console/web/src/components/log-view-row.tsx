import type { LogEntry } from '@runyard/contracts';
import { type MouseEvent, memo } from 'react';
import { type LogLayout, PART, textOf } from './log-view-layout.ts';

const LEVELS: Record<LogEntry['level'], string> = {
  DEBUG: 'text-faint',
  INFO: 'text-faint',
  WARNING: 'text-wait',
  ERROR: 'text-fault',
  CRITICAL: 'text-fault font-bold',
};
const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});
const width = (characters: number) => ({ width: `${characters}ch` });
const WIDTHS = { time: width(PART.time), level: width(PART.level), source: width(PART.source) };

/** Letters of one width, for lines and for what measures them. */
export const LOG_LETTERS = 'font-mono text-sm leading-5';

/** A link at the end of a line, to its run for example. */
export interface LogLink {
  href: string;
  /** In a word: it stands in the line. */
  text: string;
  /** The whole of it; `text` is a part. */
  label: string;
  onClick: (event: MouseEvent) => void;
}

export interface LogViewRowProps {
  entry: LogEntry;
  layout: LogLayout;
  /** Always the same function, or every line is drawn anew. */
  linkOf?: ((entry: LogEntry) => LogLink | undefined) | undefined;
}

/** A line of a log: when, how grave, by which process, and what. */
export const LogViewRow = memo(function LogViewRow({ entry, layout, linkOf }: LogViewRowProps) {
  const { timestamp, level, source } = entry;
  const { message, more } = textOf(entry);
  const { columns, isNarrow } = layout;
  const link = linkOf?.(entry);
  return (
    <div className={`flex gap-x-[1ch] px-[1ch] ${isNarrow ? 'flex-wrap' : ''}`}>
      <time className="shrink-0 text-faint" style={WIDTHS.time} dateTime={new Date(timestamp).toISOString()}>
        {clock.format(timestamp)}
      </time>
      <span className={`shrink-0 ${LEVELS[level]}`} style={WIDTHS.level}>
        {level}
      </span>
      <span
        className={`truncate text-faint ${isNarrow ? 'min-w-0 flex-1' : 'shrink-0'}`}
        style={isNarrow ? undefined : WIDTHS.source}
        title={source}
      >
        {source}
      </span>
      <span
        className="shrink-0 whitespace-break-spaces [line-break:anywhere]"
        // A little more than the letters need, for the rounding of browsers.
        style={{ width: `calc(${columns}ch + 1px)` }}
      >
        {message}
        {more && <span className="text-faint">{more}</span>}
        {link && (
          <>
            {' '}
            <a href={link.href} onClick={link.onClick} aria-label={link.label} className="underline">
              {link.text}
            </a>
          </>
        )}
      </span>
    </div>
  );
});
