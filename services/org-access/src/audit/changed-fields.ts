import { isDeepStrictEqual } from 'node:util';

/** Returns the fields that differ between two states of a resource, for an audit event; null when none does. */
export function changedFields<State extends object>(
  before: State,
  after: State,
): { before: Partial<State>; after: Partial<State> } | null {
  const names = (Object.keys(after) as (keyof State)[]).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  if (names.length === 0) return null;
  const pick = (state: State) => Object.fromEntries(names.map((name) => [name, state[name]])) as Partial<State>;
  return { before: pick(before), after: pick(after) };
}
