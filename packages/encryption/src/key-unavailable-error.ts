import { EncryptionError } from './cipher.ts';

/**
 * The key of stored data is not to be had in this process: it is not configured here, or handlers of the project did
 * not decrypt it. Another process may have it, and this one may get it later; data that was damaged is a plain
 * EncryptionError.
 */
export class KeyUnavailableError extends EncryptionError {
  /** Names the key, in hexadecimal. */
  readonly keyId: string;

  constructor(keyId: string, message: string) {
    super(message);
    this.keyId = keyId;
  }
}

/** Returns the error for data that only handlers of a project can decrypt, where there are none. */
export function withoutProjectEncryption(keyId: string): KeyUnavailableError {
  const message = 'Data is encrypted by the project, and langgraph.json has no "encryption.path" any more.';
  return new KeyUnavailableError(keyId, message);
}
