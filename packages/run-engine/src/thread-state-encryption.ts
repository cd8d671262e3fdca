import type { DataCipher } from '@runyard/encryption';
import type { FinishRun } from './runs/types.ts';

/** Encrypts `values` and `interrupts` before they are stored. */
export function encryptThreadState<T extends Pick<FinishRun, 'values' | 'interrupts'>>(
  cipher: DataCipher,
  state: T,
): T {
  const { values, interrupts } = state;
  return { ...state, values: values && cipher.encrypt(values), interrupts: interrupts && cipher.encrypt(interrupts) };
}
