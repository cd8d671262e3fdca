import type { LogEntry } from '@runyard/contracts';

/**
 * Lines are laid out as in a terminal: letters of one width, which wrap after any of them. So the height of a line is
 * known without looking at it, and 50,000 of them scroll as one does.
 */
export interface LogLayout {
  /** Characters of a message that fit beside each other. */
  columns: number;
  /** True if the message stands below its time and the other parts of its line. */
  isNarrow: boolean;
  linePx: number;
}

/** Characters of each part of a line, and of the space between two of them. */
export const PART = { time: 12, level: 8, source: 13, space: 1 } as const;
const BESIDES = PART.time + PART.level + PART.source + 5 * PART.space;
const COLUMNS_MIN = 40;
const NARROW_MIN = 10;

/** Matches text whose width follows from its length. Other text, such as tabs, CJK and emoji, is measured. */
const COUNTABLE = /^[\x20-\x7e\n]*$/;

/** Returns the layout of a frame of this width, in which letters have this width and height. */
export function layoutOf(widthPx: number, letter: { widthPx: number; heightPx: number }): LogLayout {
  const characters = letter.widthPx > 0 ? Math.floor(widthPx / letter.widthPx) : 0;
  const columns = characters - BESIDES;
  const isNarrow = columns < COLUMNS_MIN;
  return {
    columns: isNarrow ? Math.max(NARROW_MIN, characters - 2 * PART.space) : columns,
    isNarrow,
    linePx: letter.heightPx,
  };
}

/** Returns the text of a line: its message, and further fields as they are searched for. */
export function textOf({ message, fields }: LogEntry): { message: string; more: string } {
  const more = Object.entries(fields ?? {})
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
  return { message, more: more && ` ${more}` };
}

export interface RowHeight {
  px: number;
  /** True if `px` is a guess: the row is then measured when it is shown. */
  isGuess: boolean;
}

/** Returns how high a line is. `link`: the words of the link at its end. */
export function heightOf(entry: LogEntry, { columns, isNarrow, linePx }: LogLayout, link = ''): RowHeight {
  const { message, more } = textOf(entry);
  const text = message + more + (link && ` ${link}`);
  const lines = text
    .split('\n')
    .reduce((sum, { length }) => sum + Math.max(1, Math.ceil(length / columns)), isNarrow ? 1 : 0);
  return { px: lines * linePx, isGuess: !COUNTABLE.test(text) };
}
