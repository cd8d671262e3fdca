import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { SealingError } from './sealer.ts';

/** Encrypts and decrypts bytes in the database of a deployment. */
export interface AtRest {
  seal(bytes: Uint8Array): Buffer;
  /** @throws SealingError when they were encrypted with a key that is not configured, or were changed. */
  open(bytes: Uint8Array): Buffer;
  /** False when bytes are stored unencrypted. */
  readonly isSealing: boolean;
}

/** First byte of encrypted values: no JSON text and no compressed value begins with it. */
const MARK = 0x01;
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES + IV_BYTES;

/** Stores bytes unencrypted. */
export const PLAIN: AtRest = {
  isSealing: false,
  seal: asBuffer,
  open(bytes) {
    if (bytes[0] === MARK) {
      throw new SealingError('Data of this deployment is encrypted, and LANGGRAPH_AES_KEY is not configured.');
    }
    return asBuffer(bytes);
  },
};

/** Encrypts with the keys of LANGGRAPH_AES_KEY, or not without them. @throws SealingError for an invalid key */
export function atRestWith(keys: string | undefined): AtRest {
  return keys ? sealedAtRest(keys) : PLAIN;
}

/**
 * Encrypts data of clients and graphs with AES-256-GCM. An encrypted value names its key: the first key encrypts, every
 * key decrypts, and values from before there was a key stay readable. Values are not bound to a place, since threads
 * are copied inside the database.
 *
 * @param keys the value of LANGGRAPH_AES_KEY: 16, 24 or 32 characters, or 32 bytes in base64 or hex; several separated
 * by commas, the newest first.
 */
export function sealedAtRest(keys: string): AtRest {
  const parsed = keys.split(',').map(toKey);
  const current = parsed[0]!;
  const byId = new Map(parsed.map((each) => [each.id.toString('hex'), each.key]));
  return {
    isSealing: true,
    seal(bytes) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.key, iv);
      return Buffer.concat([
        Buffer.of(MARK),
        current.id,
        iv,
        cipher.update(bytes),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
    },
    open(bytes) {
      if (bytes[0] !== MARK) return asBuffer(bytes);
      const sealed = asBuffer(bytes);
      const key = byId.get(sealed.toString('hex', 1, 1 + KEY_ID_BYTES));
      if (!key) throw new SealingError('Data is encrypted with a key that LANGGRAPH_AES_KEY does not have any more.');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1 + KEY_ID_BYTES, HEAD_BYTES));
        decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
        return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES)), decipher.final()]);
      } catch (cause) {
        throw new SealingError('Encrypted data was changed, or cut.', { cause });
      }
    },
  };
}

function toKey(text: string): { id: Buffer; key: Buffer } {
  const key = Buffer.from(hkdfSync('sha256', bytesOfKey(text.trim()), '', 'runyard at rest', 32));
  return { id: createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES), key };
}

function bytesOfKey(text: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  const plain = Buffer.from(text);
  if ([16, 24, 32].includes(plain.length)) return plain;
  const decoded = Buffer.from(text, 'base64');
  if (decoded.length === 32) return decoded;
  throw new SealingError('LANGGRAPH_AES_KEY must be 16, 24 or 32 characters, or 32 bytes in base64 or hex.');
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
