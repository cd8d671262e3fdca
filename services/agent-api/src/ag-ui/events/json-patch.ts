/** An operation of a JSON Patch (RFC 6902), of the kinds that are made here. */
export type PatchOperation = { op: 'add' | 'replace'; path: string; value: unknown } | { op: 'remove'; path: string };

type Branch = Record<string, unknown> | unknown[];

/** Characters of paths, and of what is around them, that a patch may have beside its values. */
const OVERHEAD_MAX = 64 * 1024;
/** Characters that an operation takes beside its path and its value. */
const OPERATION_CHARACTERS = 32;

/**
 * Returns the JSON Patch that turns one JSON value into another; undefined where it would be longer than the new value
 * by more than `OVERHEAD_MAX`. Lists are compared place by place, so that the effort is linear: an item that is put in
 * front of others replaces all of them.
 */
export function diffJson(before: unknown, after: unknown): PatchOperation[] | undefined {
  const patch = new Patch();
  compare(patch, '', before, after);
  return patch.isTooLong ? undefined : patch.operations;
}

/** Collects operations until they are too long. Their values are parts of the new value, none of them twice. */
class Patch {
  readonly operations: PatchOperation[] = [];
  #overhead = 0;

  get isTooLong(): boolean {
    return this.#overhead > OVERHEAD_MAX;
  }

  add(operation: PatchOperation): void {
    this.#overhead += operation.path.length + OPERATION_CHARACTERS;
    if (!this.isTooLong) this.operations.push(operation);
  }
}

function compare(patch: Patch, path: string, before: unknown, after: unknown): void {
  if (!isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after)) {
    if (before !== after) patch.add({ op: 'replace', path, value: after });
  } else if (Array.isArray(before)) {
    compareLists(patch, path, before, after as unknown[]);
  } else {
    compareObjects(patch, path, before, after as Record<string, unknown>);
  }
}

function compareObjects(
  patch: Patch,
  path: string,
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): void {
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) patch.add({ op: 'remove', path: below(path, key) });
  }
  for (const [key, value] of Object.entries(after)) {
    if (patch.isTooLong) return;
    if (!Object.hasOwn(before, key)) patch.add({ op: 'add', path: below(path, key), value });
    else if (before[key] !== value) compare(patch, below(path, key), before[key], value);
  }
}

function compareLists(patch: Patch, path: string, before: unknown[], after: unknown[]): void {
  const shared = Math.min(before.length, after.length);
  for (let index = 0; index < shared && !patch.isTooLong; index += 1) {
    // Equal ones need no path, of which a long list would have many.
    if (before[index] !== after[index]) compare(patch, below(path, String(index)), before[index], after[index]);
  }
  for (let index = shared; index < after.length && !patch.isTooLong; index += 1) {
    patch.add({ op: 'add', path: below(path, '-'), value: after[index] });
  }
  for (let index = before.length - 1; index >= shared && !patch.isTooLong; index -= 1) {
    patch.add({ op: 'remove', path: below(path, String(index)) });
  }
}

function isBranch(value: unknown): value is Branch {
  return typeof value === 'object' && value !== null;
}

/** Returns a JSON Pointer (RFC 6901) one level below. */
function below(path: string, key: string): string {
  return `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
