/** The messages to handlers of JSON: objects of one context, so many that they are answered in time. */
import type { JsonPlace } from '../json-places.ts';
import { FreshMap } from './fresh-map.ts';
import { type JsonAnswer, JsonTooDeepError, type PlacedJson } from './types.ts';

/** Objects, and characters of their JSON, in one message to the handlers. One object may be larger. */
const MESSAGE_OBJECTS = 100;
const MESSAGE_CHARACTERS = 1024 * 1024;
/** Milliseconds for which handlers are not asked again about what they failed at. */
const FAILED_MS = 5_000;
/** Names that one process remembers. */
export const NAMES_MAX = 10_000;

/** An object, and the length of its JSON text. */
export interface SizedJson extends PlacedJson {
  characters: number;
}

/** @throws JsonTooDeepError */
export function sizedOf(place: JsonPlace, data: Record<string, unknown>): SizedJson {
  try {
    return { place, data, characters: JSON.stringify(data).length };
  } catch (error) {
    throw error instanceof RangeError ? new JsonTooDeepError() : error;
  }
}

/** Names what handlers have failed at lately. */
export function recentFailures(): FreshMap<true> {
  return new FreshMap(NAMES_MAX, FAILED_MS);
}

/** Divides objects among messages, each of which is answered in time or fails. */
export function messagesOf<T extends SizedJson>(objects: T[]): T[][] {
  const messages: T[][] = [];
  let total = 0;
  for (const object of objects) {
    const last = messages.at(-1);
    total += object.characters;
    if (last && last.length < MESSAGE_OBJECTS && total <= MESSAGE_CHARACTERS) last.push(object);
    else {
      messages.push([object]);
      total = object.characters;
    }
  }
  return messages;
}

export function toPlaced({ place, data }: SizedJson): PlacedJson {
  return { place, data };
}

/** SQL merges and filters JSON by its keys, so handlers change values alone. */
export function requireSameKeys(answer: JsonAnswer | undefined, { data }: PlacedJson, handler: string): JsonAnswer {
  if (answer === undefined) return new Error(`${handler} has no answer`);
  if (answer instanceof Error) return answer;
  const isSameKeys = Object.keys(answer).length === Object.keys(data).length && isSubset(Object.keys(data), answer);
  return isSameKeys ? answer : new Error(`${handler} added or dropped keys`);
}

function isSubset(keys: string[], object: object): boolean {
  return keys.every((key) => Object.hasOwn(object, key));
}
