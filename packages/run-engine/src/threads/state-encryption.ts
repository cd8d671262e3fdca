import type { DataCipher } from '@runyard/encryption';

/** Encrypts `values` and `interrupts` before they are stored. */
export function encryptThreadState<T extends { values: Uint8Array | null; interrupts: Uint8Array | null }>(
  cipher: DataCipher,
  state: T,
): T {
  const { values, interrupts } = state;
  return { ...state, values: values && cipher.encrypt(values), interrupts: interrupts && cipher.encrypt(interrupts) };
}
