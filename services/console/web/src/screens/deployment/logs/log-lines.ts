import type { LogEntry } from '@runyard/contracts';

/** A page of memory holds so many lines. Older ones go, and can be read again. */
export const LINES_MAX = 100_000;

export interface MergedLines {
  entries: readonly LogEntry[];
  /** The lines that were not there before. */
  added: number;
  /** True if the oldest lines were dropped, because there were too many. */
  hasDropped: boolean;
}

/**
 * Adds lines to those that are there, which are in the order of their ids. Each line is there once, however often it
 * was read; the order of `page` does not matter.
 */
export function mergeLines(entries: readonly LogEntry[], page: readonly LogEntry[], max = LINES_MAX): MergedLines {
  const news = newLines(entries, page);
  if (news.length === 0) return { entries, added: 0, hasDropped: false };
  const merged = join(entries, news);
  const hasDropped = merged.length > max;
  return { entries: hasDropped ? merged.slice(-max) : merged, added: news.length, hasDropped };
}

/** Returns the lines of a page that are not there yet, oldest first. */
function newLines(entries: readonly LogEntry[], page: readonly LogEntry[]): LogEntry[] {
  const sorted = [...page].sort((one, other) => (one.id < other.id ? -1 : 1));
  return sorted.filter(({ id }, index) => id !== sorted[index - 1]?.id && !has(entries, id));
}

function join(entries: readonly LogEntry[], news: readonly LogEntry[]): LogEntry[] {
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last || news[0]!.id > last.id) return [...entries, ...news];
  if (news.at(-1)!.id < first.id) return [...news, ...entries];
  // Lines of several processes may come late.
  return [...entries, ...news].sort((one, other) => (one.id < other.id ? -1 : 1));
}

function has(entries: readonly LogEntry[], id: string): boolean {
  let [low, high] = [0, entries.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = entries[middle]!.id;
    if (found === id) return true;
    if (found < id) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}
