import type { ThreadState } from '@runyard/contracts';
import { parseText } from './state-shapes.ts';

const KEY_OF_VALUES = 'values.';

/** Returns the keys of the values that the named fields need; undefined for all of them. */
export function keysOfValues(select: string[] | undefined): string[] | undefined {
  if (select === undefined || select.length === 0 || select.includes('values')) return undefined;
  return select.filter((field) => field.startsWith(KEY_OF_VALUES)).map((field) => field.slice(KEY_OF_VALUES.length));
}

/** Picks the named fields of a state; `values.<key>` is one key of its values. */
export function selectStateFields(state: ThreadState, select: string[] | undefined): Partial<ThreadState> {
  if (select === undefined || select.length === 0) return state;
  const shown: Record<string, unknown> = {};
  const isAnyKeyShown = (keysOfValues(select) ?? []).length > 0;
  const values = isAnyKeyShown ? (parseText(state.values) as Record<string, unknown> | null) : null;
  for (const field of select) {
    if (!field.startsWith(KEY_OF_VALUES)) shown[field] = state[field as keyof ThreadState];
    else if (!select.includes('values')) {
      const key = field.slice(KEY_OF_VALUES.length);
      shown.values ??= {};
      const chosen = shown.values as Record<string, unknown>;
      if (values !== null && typeof values === 'object' && Object.hasOwn(values, key)) chosen[key] = values[key];
    }
  }
  return shown as Partial<ThreadState>;
}
