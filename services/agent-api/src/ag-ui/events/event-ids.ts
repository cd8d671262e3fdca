import { BEFORE_ALL, compareIds, parseEventId } from '@runyard/run-stream';

/**
 * The place of an event in the stream of a run: the entry that it was made of, and its number among the events of that
 * entry. Every process makes the same events of an entry.
 */
export interface EventPlace {
  entryId: string;
  index: number;
}

/** The place of `RUN_STARTED`, which is sent before the run has any entry. */
export const BEGINNING: EventPlace = { entryId: BEFORE_ALL, index: 0 };

export function formatPlace({ entryId, index }: EventPlace): string {
  return `${entryId}.${index}`;
}

/** Parses the id of an event, as in `Last-Event-ID`; undefined for any other text. */
export function parsePlace(text: string): EventPlace | undefined {
  const [, entry = '', index = ''] = /^(\d{1,15}-\d{1,15})\.(\d{1,9})$/.exec(text.trim()) ?? [];
  const entryId = parseEventId(entry);
  return entryId === undefined ? undefined : { entryId, index: Number(index) };
}

/** Returns whether an event comes after a place. */
export function isAfter(event: EventPlace, place: EventPlace): boolean {
  return (compareIds(event.entryId, place.entryId) || event.index - place.index) > 0;
}
