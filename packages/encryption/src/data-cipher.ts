import { createHash, hkdfSync } from 'node:crypto';
import { asBuffer, decryptBytes, encryptBytes, OVERHEAD_BYTES } from './aes-gcm.ts';
import { parseJsonKeys } from './chosen-keys.ts';
import { EncryptionError } from './cipher.ts';
import { createJsonKeyCipher, type JsonKeyCipher, NO_JSON_KEYS } from './json-keys.ts';
import { KeyUnavailableError, withoutProjectEncryption } from './key-unavailable-error.ts';
import { isProjectEncrypted, keyIdOf } from './project/key-ids.ts';

/** Runs work whose writes are encrypted in one way. */
export type EncryptionScope = <T>(work: () => T) => T;

/** The scope of work that brings none along, and of ciphers that encrypt everything in the same way. */
export const NO_SCOPE: EncryptionScope = (work) => work();

/** Encrypts and decrypts bytes in the database of a deployment. */
export interface DataCipher {
  encrypt(bytes: Uint8Array): Buffer;
  /** @throws KeyUnavailableError when they were encrypted with a key that is not to be had, EncryptionError when they were changed */
  decrypt(bytes: Uint8Array): Buffer;
  /** False when bytes are stored unencrypted. */
  readonly isEncrypting: boolean;
  /** Encrypts and decrypts single keys inside JSON that is stored readable. */
  readonly json: JsonKeyCipher;
  /** Returns the scope of the caller, for work that begins elsewhere. */
  currentScope(): EncryptionScope;
  /**
   * Returns the scope of the context in which `stored` was encrypted, of which the first bytes are enough. What is
   * written in it gets the newest key of that context.
   *
   * @throws EncryptionUnavailableError, and what the database throws
   */
  scopeOf(stored: Uint8Array): EncryptionScope | Promise<EncryptionScope>;
  /** True when values name keys that have to be loaded before they are decrypted. */
  readonly needsKeys: boolean;
  /**
   * Loads the keys of the encrypted values inside of these, which may be rows, JSON or texts, and what handlers of a
   * project decrypt themselves. Returns undefined when there is nothing to wait for. A value that is not to be had says
   * so when it is decrypted.
   *
   * @throws what the database throws, from which the keys are read
   */
  loadKeys(values: unknown): Promise<void> | undefined;
}

/** First byte of encrypted values: no JSON text and no compressed value begins with it. */
const MARK = 0x01;
const KEY_ID_BYTES = 4;
/** Length of what precedes the ciphertext. */
export const HEADER_BYTES = 1 + KEY_ID_BYTES;

/** Stores bytes unencrypted. */
export const NO_ENCRYPTION: DataCipher = {
  isEncrypting: false,
  json: NO_JSON_KEYS,
  currentScope: () => NO_SCOPE,
  scopeOf: () => NO_SCOPE,
  needsKeys: false,
  loadKeys: () => undefined,
  encrypt: asBuffer,
  decrypt(bytes) {
    if (bytes[0] === MARK) {
      const message = 'Data of this deployment is encrypted, and LANGGRAPH_AES_KEY is not configured.';
      throw new KeyUnavailableError(keyIdOfBytes(bytes), message);
    }
    return withoutProjectKey(bytes);
  },
};

/** Returns unencrypted bytes. @throws KeyUnavailableError for those that only handlers of a project can decrypt */
function withoutProjectKey(bytes: Uint8Array): Buffer {
  const keyId = isProjectEncrypted(bytes) ? keyIdOf(bytes) : undefined;
  if (keyId === undefined) return asBuffer(bytes);
  throw withoutProjectEncryption(keyId);
}

function keyIdOfBytes(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('hex', 1, HEADER_BYTES);
}

/** Returns whether bytes were encrypted with a LANGGRAPH_AES_KEY. */
export function isAesEncrypted(bytes: Uint8Array): boolean {
  return bytes[0] === MARK && bytes.byteLength >= HEADER_BYTES + OVERHEAD_BYTES;
}

/** The variables of a deployment that decide about its encryption. */
export interface EncryptionVariables {
  /** LANGGRAPH_AES_KEY. Left out: nothing is encrypted, unless it has to be and there are keys of the platform. */
  aesKey?: string | undefined;
  /**
   * Keys that the platform keeps for the deployment. They decrypt always, and encrypt where something has to be
   * encrypted and the deployment brings no key.
   */
  platformKeys?: string | undefined;
  /** True for a project whose data is never stored readable. */
  mustEncrypt?: boolean;
  /** LANGGRAPH_AES_JSON_KEYS. */
  aesJsonKeys?: string | undefined;
}

/** @throws EncryptionError for an invalid key, and for JSON keys that cannot be encrypted, or without a key */
export function openDataCipher({ aesKey, aesJsonKeys, platformKeys, mustEncrypt }: EncryptionVariables): DataCipher {
  const [own, platforms] = [aesKey || undefined, platformKeys || undefined];
  const hasJsonKeys = parseJsonKeys(aesJsonKeys).size > 0;
  if (own || (platforms && (hasJsonKeys || mustEncrypt))) {
    return createDataCipher([own, platforms].filter(Boolean).join(','), aesJsonKeys);
  }
  if (hasJsonKeys) {
    throw new EncryptionError('LANGGRAPH_AES_JSON_KEYS asks for encryption, and LANGGRAPH_AES_KEY is not configured.');
  }
  return platforms ? createDecryptingCipher(platforms) : NO_ENCRYPTION;
}

/**
 * Stores bytes unencrypted, and decrypts those from a time when the deployment's data was encrypted. In JSON, text that
 * is encrypted under no key of these is left as the text it is.
 */
function createDecryptingCipher(keys: string): DataCipher {
  const { decrypt } = createDataCipher(keys);
  const known = new Set(keys.split(',').map((key) => toKey(key).id.toString('hex')));
  const isEncrypted = (bytes: Uint8Array) => isAesEncrypted(bytes) && known.has(keyIdOfBytes(bytes));
  const values = createJsonKeyCipher(new Set(), { encrypt: asBuffer, decrypt, isEncrypted });
  const { decrypt: decryptJson, decryptListed } = values;
  const json: JsonKeyCipher = { ...NO_JSON_KEYS, decrypt: decryptJson, decryptListed, with: () => json };
  return { ...NO_ENCRYPTION, decrypt, json };
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
    encrypt: (bytes: Uint8Array) => encryptBytes(current.key, bytes, Buffer.concat([Buffer.of(MARK), current.id])),
    decrypt(bytes: Uint8Array) {
      if (bytes[0] !== MARK) return withoutProjectKey(bytes);
      const keyId = keyIdOfBytes(bytes);
      const key = byId.get(keyId);
      if (key) return decryptBytes(key, asBuffer(bytes), HEADER_BYTES);
      const message = 'Data is encrypted with a key that LANGGRAPH_AES_KEY does not have any more.';
      throw new KeyUnavailableError(keyId, message);
    },
    isEncrypted: (bytes: Uint8Array) => isAesEncrypted(bytes) || isProjectEncrypted(bytes),
  };
  const { encrypt, decrypt } = ofBytes;
  return {
    isEncrypting: true,
    encrypt,
    decrypt,
    json: createJsonKeyCipher(parseJsonKeys(jsonKeys), ofBytes),
    currentScope: () => NO_SCOPE,
    scopeOf: () => NO_SCOPE,
    needsKeys: false,
    loadKeys: () => undefined,
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
  throw new EncryptionError(
    'LANGGRAPH_AES_KEY must be 16, 24 or 32 characters, or 32 bytes in base64 or hex, and so must each older key.',
  );
}
