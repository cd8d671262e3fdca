import { BEFORE_ALL, compareIds } from './event-id.ts';

/** One answer of the range script. */
export interface RangePage {
  /** Newest id of the stream. Undefined: Redis knows nothing of this thread. */
  last?: string;
  /** Entries up to here may be gone. */
  floor: string;
  /** The id before the run's first entry; empty when it has none. */
  start: string;
  /** Where the range began. */
  from: string;
  /** How far it went. */
  scannedTo: string;
  hasMore: boolean;
  /** The id before the first entry there ever was; empty when that is not known any more. */
  begin: string;
  entries: [id: string, text: string][];
}

/** @param after what was asked for: an id, `$` for the end, nothing for the beginning */
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

/** Where a reader stands when a page comes. */
export interface Standing {
  /** The last id it has. */
  after: string;
  /** Of the run it reads; empty when it reads all of the thread. */
  runId: string;
  /** It has read nothing yet. */
  isFirst: boolean;
  /** The stream may have been another one since it was read last. */
  isUncertain: boolean;
}

/** The id up to which entries of a known thread that the reader should have had are gone; undefined when none are. */
export function missingUpTo(page: RangePage, { after, runId, isFirst, isUncertain }: Standing): string | undefined {
  if (compareIds(after, page.last!) > 0) return page.floor;
  const isFromOldestKept = isFirst && runId === '' && after === BEFORE_ALL;
  if (isFromOldestKept) return undefined;
  // What was before the run's first entry is of no interest to a reader of that run, nor what was before the thread's to one who
  // was there when it came.
  const wasThere = !isFirst && !isUncertain && after === BEFORE_ALL;
  const start = page.start || (wasThere ? page.begin : '');
  const wantedAfter = start !== '' && compareIds(start, after) > 0 ? start : after;
  return compareIds(wantedAfter, page.floor) < 0 ? page.floor : undefined;
}
