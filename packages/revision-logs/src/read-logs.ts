import { LogLevel, type LogOrder } from '@runyard/contracts';
import { idsFrom, timeOfId } from './entry-ids.ts';
import { messageOf, type StoredEntry } from './log-entry.ts';
import { type LogSegment, logSegments } from './log-segments.ts';
import { type SegmentLine, segmentLines } from './segment-lines.ts';

export interface LogQuery {
  order: LogOrder;
  /** Entries of a page. A page that begins with `startMs` may be longer: it ends only after its first millisecond. */
  limit: number;
  /** Only entries after this one, in the requested order. The entry itself need not exist any more. */
  after?: string | undefined;
  /** Both inclusive, in milliseconds since 1970. */
  startMs?: number | undefined;
  endMs?: number | undefined;
  /** Entries of this level and of all higher ones. */
  level?: LogLevel | undefined;
  /** A part of the message, in upper or lower case. */
  query?: string | undefined;
  runId?: string | undefined;
  /** Bytes that one page reads at most. With a filter that matches rarely, a page may end before it is full. */
  scanBytesMax?: number | undefined;
}

export interface FoundEntry extends StoredEntry {
  revisionId: string;
}

export interface FoundEntries {
  entries: FoundEntry[];
  /** The last entry that was read, for the next page's `after`; null when there is none. */
  lastId: string | null;
  /** True when no entry follows in this order, for now. */
  isEnd: boolean;
}

const LEVELS: readonly LogLevel[] = LogLevel.anyOf.map((branch) => branch.const);
const SCAN_BYTES_MAX = 32 * 1024 * 1024;
/** Milliseconds by which ids may be later than the file's modification time: they run ahead, and clocks differ. */
const FILE_TIME_SLACK_MS = 60_000;

/** Merges the lines of several files in order. A file is opened when its lines are next. */
export async function readLogs(segments: LogSegment[], query: LogQuery): Promise<FoundEntries> {
  const range = rangeOf(query);
  const { limit, scanBytesMax = SCAN_BYTES_MAX } = query;
  const passes = filterOf(query);
  const merged = new MergedLines(await findInRange(segments, range), query.order);
  const found: FoundEntries = { entries: [], lastId: query.after ?? null, isEnd: false };
  try {
    let bytesBefore = 0;
    while ((found.entries.length < limit || isStuck(found, query)) && merged.bytes - bytesBefore < scanBytesMax) {
      const line = await merged.next();
      if (!line || isBeyond(line.id, range, query.order)) {
        found.isEnd = true;
        break;
      }
      if (line.id < range.from || line.id >= range.to) {
        // The line comes before the page's first line and does not count.
        bytesBefore = merged.bytes;
        continue;
      }
      found.lastId = line.id;
      const entry = passes(line.text);
      if (entry) found.entries.push({ ...entry, revisionId: line.segment.revisionId });
    }
  } finally {
    await merged.close();
  }
  return found;
}

/**
 * Returns whether a client that follows by time, and asks next for everything since the last entry's time, would get
 * this page again, forever.
 */
function isStuck({ entries }: FoundEntries, { order, startMs, after }: LogQuery): boolean {
  const last = entries.at(-1);
  return order === 'asc' && after === undefined && last !== undefined && timeOfId(last.id) === startMs;
}

/** Ids from the first, inclusive, to the second, exclusive. */
interface IdRange {
  from: string;
  to: string;
}

function rangeOf({ order, after, startMs, endMs }: LogQuery): IdRange {
  const from = startMs === undefined ? '' : idsFrom(startMs);
  const to = endMs === undefined ? 'g' : idsFrom(endMs + 1);
  if (after === undefined) return { from, to };
  // The smallest text greater than an id is the id with a character appended.
  if (order === 'asc') return { from: `${after} ` > from ? `${after} ` : from, to };
  return { from, to: after < to ? after : to };
}

function isBeyond(id: string, range: IdRange, order: LogOrder): boolean {
  return order === 'asc' ? id >= range.to : id < range.from;
}

interface BoundedSegment extends LogSegment {
  /** No entry of the file has a greater id. */
  lastId: string;
}

async function findInRange(segments: LogSegment[], { from, to }: IdRange): Promise<BoundedSegment[]> {
  const within: BoundedSegment[] = [];
  for (const segment of segments) {
    if (segment.firstId >= to) continue;
    const stats = await logSegments.stats(segment);
    if (!stats) continue;
    const lastId = idsFrom(Math.ceil(stats.mtimeMs) + FILE_TIME_SLACK_MS);
    if (lastId >= from) within.push({ ...segment, lastId });
  }
  return within;
}

interface MergedLine extends SegmentLine {
  segment: LogSegment;
}

interface OpenSegment {
  segment: LogSegment;
  lines: AsyncGenerator<SegmentLine>;
  current: SegmentLine;
}

class MergedLines {
  /** Bytes read so far. */
  bytes = 0;
  readonly #isNext: (one: string, other: string) => boolean;
  readonly #order: LogOrder;
  /** Files that are not open yet. The last one is the next candidate. */
  readonly #waiting: BoundedSegment[];
  readonly #open = new Set<OpenSegment>();

  constructor(segments: BoundedSegment[], order: LogOrder) {
    this.#order = order;
    this.#isNext = order === 'asc' ? (one, other) => one < other : (one, other) => one > other;
    this.#waiting = segments.sort((one, other) => (this.#isNext(this.#edgeOf(one), this.#edgeOf(other)) ? 1 : -1));
  }

  async next(): Promise<MergedLine | undefined> {
    let best = this.#best();
    for (
      let waiting = this.#waiting.at(-1);
      waiting && !(best && this.#isNext(best.current.id, this.#edgeOf(waiting)));
      waiting = this.#waiting.at(-1)
    ) {
      this.#waiting.pop();
      await this.#openSegment(waiting);
      best = this.#best();
    }
    if (!best) return undefined;
    const { segment, current } = best;
    await this.#advance(best);
    return { ...current, segment };
  }

  async close(): Promise<void> {
    for (const { lines } of this.#open) await lines.return(undefined);
  }

  #best(): OpenSegment | undefined {
    let best: OpenSegment | undefined;
    for (const open of this.#open) if (!best || this.#isNext(open.current.id, best.current.id)) best = open;
    return best;
  }

  async #openSegment(segment: BoundedSegment): Promise<void> {
    const lines = segmentLines(segment, this.#order, (bytes) => {
      this.bytes += bytes;
    });
    const { value, done } = await lines.next();
    if (!done) this.#open.add({ segment, lines, current: value });
  }

  async #advance(open: OpenSegment): Promise<void> {
    const { value, done } = await open.lines.next();
    if (done) this.#open.delete(open);
    else open.current = value;
  }

  /** Returns the id that decides when the file is opened. */
  #edgeOf(segment: BoundedSegment): string {
    return this.#order === 'asc' ? segment.firstId : segment.lastId;
  }
}

/** Returns a function that returns the entry of a matching line, and undefined for other lines. */
function filterOf({ level, query, runId }: LogQuery): (text: string) => StoredEntry | undefined {
  const levels = new Set<string>(level === undefined ? LEVELS : LEVELS.slice(LEVELS.indexOf(level)));
  const part = query?.toLowerCase();
  return (text) => {
    if (runId !== undefined && !text.includes(runId)) return undefined;
    let entry: StoredEntry;
    try {
      entry = JSON.parse(text) as StoredEntry;
    } catch {
      return undefined; // The machine stopped while it wrote this line.
    }
    if (!levels.has(entry.level)) return undefined;
    if (runId !== undefined && entry.runId !== runId) return undefined;
    if (part !== undefined && !messageOf(entry).toLowerCase().includes(part)) return undefined;
    return entry;
  };
}
