import type { AtRest } from '@runyard/sealing';
import type { FinishRun } from './runs/types.ts';

/** What is written down with the state of its thread as it is kept in the database. */
export function sealedState<T extends Pick<FinishRun, 'values' | 'interrupts'>>(atRest: AtRest, state: T): T {
  const { values, interrupts } = state;
  return { ...state, values: values && atRest.seal(values), interrupts: interrupts && atRest.seal(interrupts) };
}
