import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { parseJsonKeys } from './chosen-keys.ts';
import { EncryptionError } from './cipher.ts';
import { createJsonKeyCipher, type JsonKeyCipher, NO_JSON_KEYS } from './json-keys.ts';

/** Encrypts and decrypts bytes in the database of a deployment. */
export interface DataCipher {
  encrypt(bytes: Uint8Array): Buffer;
  /** @throws EncryptionError when they were encrypted with a key that is not configured, or were changed. */
  decrypt(bytes: Uint8Array): Buffer;
  /** False when bytes are stored unencrypted. */
  readonly isEncrypting: boolean;
  /** Encrypts and decrypts single keys inside JSON that is stored readable. */
  readonly json: JsonKeyCipher;
}

/** First byte of encrypted values: no JSON text and no compressed value begins with it. */
const MARK = 0x01;
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES + IV_BYTES;

/** Stores bytes unencrypted. */
export const NO_ENCRYPTION: DataCipher = {
  isEncrypting: false,
  json: NO_JSON_KEYS,
  encrypt: asBuffer,
  decrypt(bytes) {
    if (bytes[0] === MARK) {
      throw new EncryptionError('Data of this deployment is encrypted, and LANGGRAPH_AES_KEY is not configured.');
    }
    return asBuffer(bytes);
  },
};

/** The variables of a deployment that decide about its encryption. */
export interface EncryptionVariables {
  /** LANGGRAPH_AES_KEY. Left out: nothing is encrypted. */
  aesKey?: string | undefined;
  /** LANGGRAPH_AES_JSON_KEYS. */
  aesJsonKeys?: string | undefined;
}

/** @throws EncryptionError for an invalid key, and for JSON keys that cannot be encrypted, or without a key */
export function openDataCipher({ aesKey, aesJsonKeys }: EncryptionVariables): DataCipher {
  if (aesKey) return createDataCipher(aesKey, aesJsonKeys);
  if (parseJsonKeys(aesJsonKeys).size === 0) return NO_ENCRYPTION;
  throw new EncryptionError('LANGGRAPH_AES_JSON_KEYS asks for encryption, and LANGGRAPH_AES_KEY is not configured.');
}

/**
 * Encrypts data of clients and graphs with AES-256-GCM. An encrypted value names its key: the first key encrypts, every
 * key decrypts, and values from before there was a key stay readable. Values are not bound to a place, since threads
 * are copied inside the database.
 *
 * @param keys the value of LANGGRAPH_AES_KEY: 16, 24 or 32 characters, or 32 bytes in base64 or hex; several separated
 * by commas, the newest first.
 * @param jsonKeys the value of LANGGRAPH_AES_JSON_KEYS
 */
export function createDataCipher(keys: string, jsonKeys?: string): DataCipher {
  const parsed = keys.split(',').map(toKey);
  const current = parsed[0]!;
  const byId = new Map(parsed.map((each) => [each.id.toString('hex'), each.key]));
  const ofBytes = {
    encrypt(bytes: Uint8Array) {
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
    decrypt(bytes: Uint8Array) {
      if (bytes[0] !== MARK) return asBuffer(bytes);
      const encrypted = asBuffer(bytes);
      const key = byId.get(encrypted.toString('hex', 1, 1 + KEY_ID_BYTES));
      if (!key)
        throw new EncryptionError('Data is encrypted with a key that LANGGRAPH_AES_KEY does not have any more.');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(1 + KEY_ID_BYTES, HEAD_BYTES));
        decipher.setAuthTag(encrypted.subarray(-TAG_BYTES));
        return Buffer.concat([decipher.update(encrypted.subarray(HEAD_BYTES, -TAG_BYTES)), decipher.final()]);
      } catch (cause) {
        throw new EncryptionError('Encrypted data was changed, or cut.', { cause });
      }
    },
    isEncrypted: (bytes: Uint8Array) => bytes[0] === MARK && bytes.byteLength >= HEAD_BYTES + TAG_BYTES,
  };
  const { encrypt, decrypt } = ofBytes;
  return { isEncrypting: true, encrypt, decrypt, json: createJsonKeyCipher(parseJsonKeys(jsonKeys), ofBytes) };
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
  throw new EncryptionError('LANGGRAPH_AES_KEY must be 16, 24 or 32 characters, or 32 bytes in base64 or hex.');
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
