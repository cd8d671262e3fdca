import { isObject } from '../agent-server/json.ts';
import { isSame } from './compare.ts';

type Identified = { id: string };

/**
 * Returns what an update has to say so that one state follows another: by key, the new value; of a list that only grew,
 * the items it grew by; of items with ids, such as messages, those that are new, changed or removed. Anything but an
 * object is returned whole.
 */
export function changesOf(before: unknown, after: unknown): unknown {
  if (!isObject(after)) return after;
  const earlier = isObject(before) ? before : {};
  const changed = Object.keys(after).filter((key) => !isSame(earlier[key], after[key]));
  return Object.fromEntries(changed.map((key) => [key, changeOf(earlier[key], after[key])]));
}

function changeOf(before: unknown, after: unknown): unknown {
  if (!Array.isArray(after) || (before !== undefined && !Array.isArray(before))) return after;
  const earlier: unknown[] = before ?? [];
  if (areIdentified(after) && areIdentified(earlier)) return changedItems(earlier, after);
  const hasGrown = after.length > earlier.length && isSame(earlier, after.slice(0, earlier.length));
  return hasGrown ? after.slice(earlier.length) : after;
}

function changedItems(earlier: Identified[], after: Identified[]): unknown[] {
  const known = new Map(earlier.map((item) => [item.id, item]));
  const kept = new Set(after.map(({ id }) => id));
  // This is the form in which LangGraph takes the removal of a message.
  const removals = earlier.filter(({ id }) => !kept.has(id)).map(({ id }) => ({ type: 'remove', id, content: '' }));
  return [...removals, ...after.filter((item) => !isSame(known.get(item.id), item))];
}

/** Returns whether a list has items with ids, as messages are: reducers then merge by the id. */
export function areIdentified(list: unknown[]): list is Identified[] {
  return list.every((item) => isObject(item) && typeof item.id === 'string');
}
