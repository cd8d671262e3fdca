/** An operation of a JSON Patch (RFC 6902), of the kinds that are made here. */
export type PatchOperation = { op: 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string };

type Branch = Record<string, unknown> | unknown[];

/**
 * Returns the JSON Patch that turns one JSON value into another. Lists are compared place by place, so that the effort
 * is linear: an item that is put in front of others replaces all of them.
 */
export function diffJson(before: unknown, after: unknown, path = ''): PatchOperation[] {
  if (isBranch(before) && isBranch(after) && Array.isArray(before) === Array.isArray(after)) {
    return Array.isArray(before)
      ? diffLists(before, after as unknown[], path)
      : diffObjects(before, after as Record<string, unknown>, path);
  }
  return before === after ? [] : [{ op: 'replace', path, value: after }];
}

function diffObjects(before: Record<string, unknown>, after: Record<string, unknown>, path: string): PatchOperation[] {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  return [
    ...removed.map((key): PatchOperation => ({ op: 'remove', path: below(path, key) })),
    ...Object.entries(after).flatMap(([key, value]): PatchOperation[] =>
      Object.hasOwn(before, key)
        ? diffJson(before[key], value, below(path, key))
        : [{ op: 'add', path: below(path, key), value }],
    ),
  ];
}

function diffLists(before: unknown[], after: unknown[], path: string): PatchOperation[] {
  const shared = Math.min(before.length, after.length);
  const changes: PatchOperation[] = [];
  for (let index = 0; index < shared; index += 1) {
    // A loop instead of a spread: lists may be longer than a call can have arguments.
    for (const change of diffJson(before[index], after[index], below(path, String(index)))) changes.push(change);
  }
  for (const value of after.slice(shared)) changes.push({ op: 'add', path: below(path, '-'), value });
  for (let index = before.length - 1; index >= shared; index -= 1) {
    changes.push({ op: 'remove', path: below(path, String(index)) });
  }
  return changes;
}

function isBranch(value: unknown): value is Branch {
  return typeof value === 'object' && value !== null;
}

/** Returns a JSON Pointer (RFC 6901) one level below. */
function below(path: string, key: string): string {
  return `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
