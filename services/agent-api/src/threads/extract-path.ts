/** One step of a path: a key, an index (negative from the end) or every element. */
type Step = string | number | '*';

/**
 * Returns what a path like `values.messages[-1].content` names inside a thread; null where nothing is there. `[*]`
 * gives the list of what the rest of the path names in each element.
 */
export function extractPath(root: unknown, path: string): unknown {
  return follow(root, parsePath(path)) ?? null;
}

function parsePath(path: string): Step[] {
  const steps: Step[] = [];
  for (const [, key, index] of path.matchAll(/([^.[\]]+)|\[(-?\d+|\*)\]/g)) {
    if (key !== undefined) steps.push(key);
    else steps.push(index === '*' ? '*' : Number(index));
  }
  return steps;
}

function follow(value: unknown, steps: Step[]): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || value === null || value === undefined) return value;
  if (step === '*') return Array.isArray(value) ? value.map((item) => follow(item, rest) ?? null) : undefined;
  if (typeof step === 'number') return Array.isArray(value) ? follow(value.at(step), rest) : undefined;
  if (typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined;
  return follow((value as Record<string, unknown>)[step], rest);
}
