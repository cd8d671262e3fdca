import { BEFORE_ALL, compareIds } from './event-id.ts';

/** One answer of the range script. */
export interface RangePage {
  /** Newest id of the stream. Undefined: Redis has nothing of this thread. */
  last?: string;
  /** Entries up to this id may be deleted. */
  floor: string;
  /** The id before the run's first entry; empty when it has none. */
  start: string;
  /** The id at which the range began. */
  from: string;
  /** The id up to which the range was read. */
  scannedTo: string;
  hasMore: boolean;
  /** The id before the thread's first entry ever; empty when it is not known any more. */
  begin: string;
  entries: [id: string, text: string][];
}

/** @param after the requested position: an id, `$` for the end, empty for the beginning */
export function toRangePage(reply: string[], after: string): RangePage {
  const [last, floor = BEFORE_ALL, start = '', from, scannedTo = BEFORE_ALL, hasMore, begin = ''] = reply;
  const isId = after !== '' && after !== '$';
  const entries: [string, string][] = [];
  for (let index = 7; index < reply.length; index += 2) entries.push([reply[index]!, reply[index + 1]!]);
  return {
    last,
    floor,
    start,
    from: from ?? (isId ? after : BEFORE_ALL),
    scannedTo,
    hasMore: hasMore === '1',
    begin,
    entries,
  };
}

/** The state of a reader when a page arrives. */
export interface ReaderPosition {
  /** The last id that it has. */
  after: string;
  /** The run that it reads; empty when it reads the whole thread. */
  runId: string;
  /** True when it has read nothing yet. */
  isFirst: boolean;
  /** True when the stream may have been replaced since the last read. */
  isUncertain: boolean;
}

/** Returns the id up to which entries that the reader should have had are deleted; undefined when none are. */
export function findMissingUpTo(
  page: RangePage,
  { after, runId, isFirst, isUncertain }: ReaderPosition,
): string | undefined {
  if (compareIds(after, page.last!) > 0) return page.floor;
  const isFromOldestKept = isFirst && runId === '' && after === BEFORE_ALL;
  if (isFromOldestKept) return undefined;
  // Entries before a run's first one do not matter to a reader of that run, nor those before the thread's first one to
  // a reader that was connected when it came.
  const wasThere = !isFirst && !isUncertain && after === BEFORE_ALL;
  const start = page.start || (wasThere ? page.begin : '');
  const wantedAfter = start !== '' && compareIds(start, after) > 0 ? start : after;
  return compareIds(wantedAfter, page.floor) < 0 ? page.floor : undefined;
}
