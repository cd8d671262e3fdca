/** A place in a JSON value: keys of objects, indexes of lists. */
type JsonPath = readonly (string | number)[];

/** One difference between two JSON values. */
export interface JsonChange {
  /** The place in the later value; of what was removed, in the earlier one. */
  path: JsonPath;
  kind: 'added' | 'removed' | 'changed';
  before?: unknown;
  after?: unknown;
}

type Json = Record<string, unknown>;

/**
 * Lists the differences between two JSON values, in the order of the later one. Entries of lists that all have an id of
 * their own, as messages have, are compared with those of the same id, wherever they stand; those of other lists by their
 * place, from both ends. Takes time in proportion to the size of the values.
 *
 * @param max differences that are listed; the rest is left out
 */
export function diffJson(before: unknown, after: unknown, { max = 5_000 } = {}): JsonChange[] {
  const changes: JsonChange[] = [];
  compare(before, after, [], (change) => {
    if (changes.length < max) changes.push(change);
  });
  return changes;
}

type Report = (change: JsonChange) => void;

function compare(before: unknown, after: unknown, path: JsonPath, report: Report): void {
  if (Object.is(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, path, report);
  else if (isObject(before) && isObject(after)) compareObjects(before, after, path, report);
  else report({ path, kind: 'changed', before, after });
}

function compareObjects(before: Json, after: Json, path: JsonPath, report: Report): void {
  for (const [key, value] of Object.entries(after)) {
    if (Object.hasOwn(before, key)) compare(before[key], value, [...path, key], report);
    else report({ path: [...path, key], kind: 'added', after: value });
  }
  for (const [key, value] of Object.entries(before))
    if (!Object.hasOwn(after, key)) report({ path: [...path, key], kind: 'removed', before: value });
}

function compareLists(before: readonly unknown[], after: readonly unknown[], path: JsonPath, report: Report): void {
  const [earlier, later] = [byId(before), byId(after)];
  if (earlier && later && isInOrder(earlier, later)) compareById(earlier, later, path, report);
  else compareByPlace(before, after, path, report);
}

type ById = Map<string, { value: unknown; index: number }>;

function compareById(before: ById, after: ById, path: JsonPath, report: Report): void {
  for (const [id, { value, index }] of after) {
    const known = before.get(id);
    if (known) compare(known.value, value, [...path, index], report);
    else report({ path: [...path, index], kind: 'added', after: value });
  }
  for (const [id, { value, index }] of before)
    if (!after.has(id)) report({ path: [...path, index], kind: 'removed', before: value });
}

function compareByPlace(before: readonly unknown[], after: readonly unknown[], path: JsonPath, report: Report): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isEqual(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && isEqual(before[before.length - 1 - end], after[after.length - 1 - end])) end += 1;
  const both = shorter - end;
  for (let index = start; index < both; index++) compare(before[index], after[index], [...path, index], report);
  for (let index = both; index < after.length - end; index++)
    report({ path: [...path, index], kind: 'added', after: after[index] });
  for (let index = both; index < before.length - end; index++)
    report({ path: [...path, index], kind: 'removed', before: before[index] });
}

/** Returns whether what both lists have stands in the same order in both. */
function isInOrder(before: ById, after: ById): boolean {
  let last = -1;
  for (const id of after.keys()) {
    const index = before.get(id)?.index;
    if (index === undefined) continue;
    if (index < last) return false;
    last = index;
  }
  return true;
}

/** Returns the entries of a list by their ids; undefined where one has none, or two have the same. */
function byId(list: readonly unknown[]): ById | undefined {
  const found: ById = new Map();
  for (const [index, value] of list.entries()) {
    const id = isObject(value) ? value.id : undefined;
    if (typeof id !== 'string' || found.has(id)) return undefined;
    found.set(id, { value, index });
  }
  return found;
}

function isEqual(one: unknown, other: unknown): boolean {
  let isSame = true;
  compare(one, other, [], () => {
    isSame = false;
  });
  return isSame;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
