import { LogLevel, type LogOrder } from '@runyard/contracts';
import { idsFrom, timeOfId } from './entry-ids.ts';
import { messageOf, type StoredEntry } from './log-entry.ts';
import { type LogSegment, logSegments } from './log-segments.ts';
import { type SegmentLine, segmentLines } from './segment-lines.ts';

export interface LogQuery {
  order: LogOrder;
  /** A page that begins at a time goes on beyond it until it has left the millisecond that it begins with. */
  limit: number;
  /** Only what comes after this entry, in the order asked for. It need not be there any more. */
  after?: string | undefined;
  /** Both inclusive, milliseconds since 1970. */
  startMs?: number | undefined;
  endMs?: number | undefined;
  /** Entries of this level and of every heavier one. */
  level?: LogLevel | undefined;
  /** A part of the message, upper or lower case. */
  query?: string | undefined;
  runId?: string | undefined;
  /** A page looks through so much at most: with a filter that hardly anything passes it may end before it is full. */
  scanBytesMax?: number | undefined;
}

export interface FoundEntry extends StoredEntry {
  revisionId: string;
}

export interface FoundEntries {
  entries: FoundEntry[];
  /** The last entry that was looked at, to go on `after`; null when there is nothing to go on from. */
  lastId: string | null;
  /** There is nothing after it in this order, for now. */
  isEnd: boolean;
}

const LEVELS: readonly LogLevel[] = LogLevel.anyOf.map((branch) => branch.const);
const SCAN_BYTES_MAX = 32 * 1024 * 1024;
/** How much later than the time of a file's last change the ids in it may be: they run ahead, and clocks differ. */
const FILE_TIME_SLACK_MS = 60_000;

/** The lines of several files as one, in order; a file is opened when its lines are next. */
export async function readLogs(segments: LogSegment[], query: LogQuery): Promise<FoundEntries> {
  const range = rangeOf(query);
  const { limit, scanBytesMax = SCAN_BYTES_MAX } = query;
  const passes = filterOf(query);
  const merged = new MergedLines(await withinRange(segments, range), query.order);
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
        // On the way to where the page begins.
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
 * Whether somebody who follows by time, and asks next for what comes from the last entry's time on, would get this page again and
 * never another one.
 */
function isStuck({ entries }: FoundEntries, { order, startMs, after }: LogQuery): boolean {
  const last = entries.at(-1);
  return order === 'asc' && after === undefined && last !== undefined && timeOfId(last.id) === startMs;
}

/** Ids from the first on and up to before the second. */
interface IdRange {
  from: string;
  to: string;
}

function rangeOf({ order, after, startMs, endMs }: LogQuery): IdRange {
  const from = startMs === undefined ? '' : idsFrom(startMs);
  const to = endMs === undefined ? 'g' : idsFrom(endMs + 1);
  if (after === undefined) return { from, to };
  // The smallest text that is greater than an id is the id with anything behind it.
  if (order === 'asc') return { from: `${after} ` > from ? `${after} ` : from, to };
  return { from, to: after < to ? after : to };
}

function isBeyond(id: string, range: IdRange, order: LogOrder): boolean {
  return order === 'asc' ? id >= range.to : id < range.from;
}

interface BoundedSegment extends LogSegment {
  /** No entry of it has a greater id. */
  lastId: string;
}

async function withinRange(segments: LogSegment[], { from, to }: IdRange): Promise<BoundedSegment[]> {
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
  /** Read so far. */
  bytes = 0;
  readonly #isNext: (one: string, other: string) => boolean;
  readonly #order: LogOrder;
  /** Not opened yet, the one that may have the next line last. */
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

  /** Where it comes into the order. */
  #edgeOf(segment: BoundedSegment): string {
    return this.#order === 'asc' ? segment.firstId : segment.lastId;
  }
}

/** The entry of a line that passes, undefined for any other. */
function filterOf({ level, query, runId }: LogQuery): (text: string) => StoredEntry | undefined {
  const levels = new Set<string>(level === undefined ? LEVELS : LEVELS.slice(LEVELS.indexOf(level)));
  const part = query?.toLowerCase();
  return (text) => {
    if (runId !== undefined && !text.includes(runId)) return undefined;
    let entry: StoredEntry;
    try {
      entry = JSON.parse(text) as StoredEntry;
    } catch {
      return undefined; // Left by a machine that stopped in the middle of it.
    }
    if (!levels.has(entry.level)) return undefined;
    if (runId !== undefined && entry.runId !== runId) return undefined;
    if (part !== undefined && !messageOf(entry).toLowerCase().includes(part)) return undefined;
    return entry;
  };
}
