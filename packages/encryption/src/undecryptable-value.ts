import type { EncryptionError } from './cipher.ts';

/** Returns what stands for an undecryptable item in a list, so that the others are still shown. */
export function undecryptableValue({ name, message }: EncryptionError): {
  __error__: { error: string; message: string };
} {
  return { __error__: { error: name, message } };
}
