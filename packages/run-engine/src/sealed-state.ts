import type { AtRest } from '@runyard/sealing';
import type { FinishRun } from './runs/types.ts';

/** Encrypts `values` and `interrupts` before they are stored. */
export function sealedState<T extends Pick<FinishRun, 'values' | 'interrupts'>>(atRest: AtRest, state: T): T {
  const { values, interrupts } = state;
  return { ...state, values: values && atRest.seal(values), interrupts: interrupts && atRest.seal(interrupts) };
}
