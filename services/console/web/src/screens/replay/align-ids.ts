type Fields = Record<string, unknown>;

/**
 * Returns the state of a shadow with the ids of the original in it, so that a comparison does not show them: two runs give
 * the same message different ids. An id stands for another if both are of entries in the same place of a list, and
 * neither is in the other state. Whatever else names such an id, as the answer of a tool names its call, names the other.
 */
export function alignIds(original: unknown, shadow: unknown): unknown {
  const [before, after] = [idsIn(original), idsIn(shadow)];
  const renamed = new Map<string, string>();
  pair(original, shadow, (known, fresh) => {
    if (!before.has(fresh) && !after.has(known) && !renamed.has(fresh)) renamed.set(fresh, known);
  });
  return renamed.size === 0 ? shadow : rename(shadow, renamed);
}

function idsIn(value: unknown, found = new Set<string>()): Set<string> {
  for (const each of partsOf(value)) idsIn(each, found);
  if (isFields(value) && typeof value.id === 'string') found.add(value.id);
  return found;
}

/** Calls with the ids of entries of lists that stand in the same place of both. */
function pair(original: unknown, shadow: unknown, report: (known: string, fresh: string) => void): void {
  if (Array.isArray(original) && Array.isArray(shadow)) {
    for (const [index, entry] of original.entries()) {
      const other: unknown = shadow[index];
      const [known, fresh] = [idOf(entry), idOf(other)];
      if (known !== undefined && fresh !== undefined && known !== fresh) report(known, fresh);
      pair(entry, other, report);
    }
  } else if (isFields(original) && isFields(shadow)) {
    for (const [name, value] of Object.entries(original)) pair(value, shadow[name], report);
  }
}

function rename(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return ids.get(value) ?? value;
  if (Array.isArray(value)) return value.map((each) => rename(each, ids));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, rename(each, ids)]));
}

function partsOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isFields(value) ? Object.values(value) : [];
}

function idOf(value: unknown): string | undefined {
  return isFields(value) && typeof value.id === 'string' ? value.id : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
