import { createHash } from 'node:crypto';

/**
 * Returns the SHA-256 under which a key, a token or a code is stored and looked up. They are random, so a fast hash
 * without salt is safe; passwords have one of their own.
 */
export function hashSecret(secret: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(secret).digest());
}
