import type { ThreadState } from '@runyard/contracts';

/** Picks the named fields of a state; `values.<key>` is one key of its values. */
export function selectStateFields(state: ThreadState, select: string[] | undefined): Partial<ThreadState> {
  if (select === undefined || select.length === 0) return state;
  const shown: Record<string, unknown> = {};
  for (const field of select) {
    if (!field.startsWith('values.')) shown[field] = state[field as keyof ThreadState];
    else if (!select.includes('values')) {
      const key = field.slice('values.'.length);
      const values = state.values as Record<string, unknown> | null;
      shown.values ??= {};
      const chosen = shown.values as Record<string, unknown>;
      if (values !== null && typeof values === 'object' && Object.hasOwn(values, key)) chosen[key] = values[key];
    }
  }
  return shown as Partial<ThreadState>;
}
