import { nextId } from './event-id.ts';
import type { AppendEvent, StreamEntry } from './types.ts';

/**
 * An entry is stored and published as the same text: run, attempt, kind, event and data between unit separators, and
 * the entries of one publication between record separators. Valid JSON never contains these two characters, so nothing
 * is escaped or parsed on the way. The attempt of a resumable run ends in `r`.
 */
const UNIT = '\u001f';
const RECORD = '\u001e';
const RESUMABLE = 'r';

export function encodeEntry({ runId, attempt, kind, event, data }: AppendEvent, isResumable: boolean): string {
  if (hasSeparator(data)) throw new TypeError('The data of an event is not JSON text.');
  // Event names contain node names, which may have any characters.
  const name = hasSeparator(event) ? event.replaceAll(UNIT, '').replaceAll(RECORD, '') : event;
  return `${runId}${UNIT}${attempt}${isResumable ? RESUMABLE : ''}${UNIT}${kind}${UNIT}${name}${UNIT}${data}`;
}

function hasSeparator(text: string): boolean {
  return text.includes(UNIT) || text.includes(RECORD);
}

export function decodeEntry(id: string, text: string): StreamEntry {
  const runEnd = text.indexOf(UNIT);
  const attemptEnd = text.indexOf(UNIT, runEnd + 1);
  const kindEnd = text.indexOf(UNIT, attemptEnd + 1);
  const eventEnd = text.indexOf(UNIT, kindEnd + 1);
  return {
    id,
    runId: text.slice(0, runEnd),
    attempt: Number.parseInt(text.slice(runEnd + 1, attemptEnd), 10),
    isResumable: text.charAt(attemptEnd - 1) === RESUMABLE,
    kind: text.slice(attemptEnd + 1, kindEnd),
    event: text.slice(kindEnd + 1, eventEnd),
    data: text.slice(eventEnd + 1),
  };
}

/** One append in the form for live readers. */
export interface LiveBatch {
  /** The id before the first of these in the stream: a reader that does not have it has missed something. */
  predecessor: string;
  lastId: string;
  /** Empty when the entries are too large for every reader: they must be read from the stream. */
  entries: StreamEntry[];
  /** Approximate size in memory. */
  bytes: number;
}

/**
 * Decodes a message of the append script: `predecessor UNIT first id`, then the entries, each after a record separator;
 * large entries are replaced by `predecessor UNIT first id UNIT last id` alone.
 */
export function decodeBatch(message: string): LiveBatch {
  const [header, ...texts] = message.split(RECORD);
  const [predecessor = '', firstId = '', lastId] = header!.split(UNIT);
  if (lastId !== undefined) return { predecessor, lastId, entries: [], bytes: 200 };
  let id = firstId;
  const entries = texts.map((text, index) => {
    if (index > 0) id = nextId(id);
    return decodeEntry(id, text);
  });
  return { predecessor, lastId: id, entries, bytes: message.length * 2 + entries.length * 200 };
}
