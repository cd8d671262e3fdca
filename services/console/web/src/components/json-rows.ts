/** A line of a JSON value that is shown as a tree. */
export interface JsonRow {
  /** Names the line within its value, also when the value changes around it. */
  path: string;
  /** Its key or index; empty for the root without a name, and for a piece of a text. */
  name: string;
  level: number;
  /** Its place among its siblings, counted from 1, and their number. */
  position: number;
  siblings: number;
  value: unknown;
  /** True where it can be opened. */
  isBranch: boolean;
  isOpen: boolean;
  /** A branch in a few words: `3 items`. A part of a long list has none, as its name is its range. */
  summary?: string | undefined;
}

/** Longer lists are shown in parts of so many entries. */
const ENTRIES_MAX = 100;
/** Longer texts are shown in pieces. */
export const TEXT_MAX = 2_000;
/** The most lines that are open at first. */
const FIRST_LINES = 40;
const FIRST_LEVELS = 4;

interface Entry {
  key: string;
  name: string;
  value: unknown;
  /** For a part: the entries of the value that it has. */
  range?: readonly [from: number, to: number];
}

/** Returns the lines of a value of which the given paths are open. Nothing closed is looked into. */
export function jsonRows(value: unknown, name: string, open: ReadonlySet<string>): JsonRow[] {
  const rows: JsonRow[] = [];
  const add = (entry: Entry, path: string, level: number, position: number, siblings: number) => {
    const isBranch = entry.range !== undefined || isBranchValue(entry.value);
    const isOpen = isBranch && open.has(path);
    const summary = isBranch && !entry.range ? summaryOf(entry.value) : undefined;
    rows.push({ path, name: entry.name, level, position, siblings, value: entry.value, isBranch, isOpen, summary });
    if (!isOpen) return;
    const children = childrenOf(entry.value, entry.range);
    children.forEach((child, index) => {
      add(child, `${path}/${child.key}`, level + 1, index + 1, children.length);
    });
  };
  add({ key: '', name, value }, '', 1, 1, 1);
  return rows;
}

/** Returns the paths that are open at first: from the top down, as long as all of it fits on a screen. */
export function firstOpen(value: unknown): Set<string> {
  const open = new Set<string>();
  let level: { path: string; value: unknown }[] = [{ path: '', value }];
  let lines = 1;
  for (let depth = 0; depth < FIRST_LEVELS; depth++) {
    const next: typeof level = [];
    for (const each of level) {
      if (!isBranchValue(each.value)) continue;
      const children = childrenOf(each.value);
      if (depth > 0 && lines + children.length > FIRST_LINES) continue;
      open.add(each.path);
      lines += children.length;
      next.push(
        ...children.filter(({ range }) => !range).map(({ key, value }) => ({ path: `${each.path}/${key}`, value })),
      );
    }
    level = next;
  }
  return open;
}

function isBranchValue(value: unknown): boolean {
  return sizeOf(value) > (typeof value === 'string' ? 1 : 0);
}

/** Returns the number of entries of a list or an object, and of pieces of a text. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Math.ceil(value.length / TEXT_MAX);
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function childrenOf(value: unknown, range: readonly [number, number] = [0, sizeOf(value)]): Entry[] {
  const [from, to] = range;
  if (to - from <= ENTRIES_MAX) return entriesOf(value, from, to);
  let size = ENTRIES_MAX;
  while ((to - from) / size > ENTRIES_MAX) size *= ENTRIES_MAX;
  const parts: Entry[] = [];
  for (let start = from; start < to; start += size) {
    const end = Math.min(to, start + size);
    parts.push({ key: `${start}…${end - 1}`, name: `${start} … ${end - 1}`, value, range: [start, end] });
  }
  return parts;
}

function entriesOf(value: unknown, from: number, to: number): Entry[] {
  if (typeof value === 'string') {
    return Array.from({ length: to - from }, (_, index) => {
      const start = (from + index) * TEXT_MAX;
      return { key: String(from + index), name: '', value: value.slice(start, start + TEXT_MAX) };
    });
  }
  if (Array.isArray(value)) {
    return value.slice(from, to).map((each: unknown, index) => {
      const name = String(from + index);
      return { key: name, name, value: each };
    });
  }
  const object = value as Record<string, unknown>;
  return Object.keys(object)
    .slice(from, to)
    .map((name) => ({
      key: name.replaceAll('~', '~0').replaceAll('/', '~1'),
      name: name === '' ? '""' : name,
      value: object[name],
    }));
}

function summaryOf(value: unknown): string {
  const count = (number: number, noun: string) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
  if (typeof value === 'string') return count(value.length, 'character');
  return Array.isArray(value) ? count(value.length, 'item') : count(sizeOf(value), 'key');
}
