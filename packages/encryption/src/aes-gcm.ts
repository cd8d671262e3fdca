import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { EncryptionError } from './cipher.ts';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Bytes that a value grows by, besides its header. */
export const OVERHEAD_BYTES = IV_BYTES + TAG_BYTES;

/** Returns the header, and behind it the bytes as AES-256-GCM encrypts them. */
export function encryptBytes(key: Uint8Array, bytes: Uint8Array, header: Uint8Array): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv);
  return Buffer.concat([header, iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts what stands behind the header. @throws EncryptionError when it was changed, or cut */
export function decryptBytes(key: Uint8Array, encrypted: Uint8Array, headerBytes: number): Buffer {
  const ivEnd = headerBytes + IV_BYTES;
  try {
    const decipher = createDecipheriv(ALGORITHM, key, encrypted.subarray(headerBytes, ivEnd), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(encrypted.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(encrypted.subarray(ivEnd, -TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new EncryptionError('Encrypted data was changed, or cut.', { cause });
  }
}

/** Returns the same bytes as a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
