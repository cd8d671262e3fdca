import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** The configured keys are invalid, or a value was not encrypted with one of them for this place. */
export class EncryptionError extends Error {
  /** Clients get this name with a value that cannot be decrypted, so it stays that of the first release. */
  override readonly name = 'SealingError';
}

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts with AES-256-GCM what a copy of the database must not reveal. An encrypted value names its key, so keys can
 * be changed without touching old rows: the first key encrypts, every key decrypts. `place` (say
 * `deployment/<id>/secrets`) is authenticated with the value: a value that was moved to another row cannot be decrypted
 * there.
 */
export class Cipher {
  readonly #keys = new Map<string, Buffer>();
  readonly #current: { id: string; key: Buffer };

  /** @param keys one or more 32-byte keys in base64 or hex, separated by commas; the newest first. */
  constructor(keys: string) {
    const parsed = keys
      .split(',')
      .map((text) => text.trim())
      .filter(Boolean)
      .map(parseKey);
    const [first] = parsed;
    if (!first) throw new EncryptionError('No encryption key is configured.');
    this.#current = first;
    for (const { id, key } of parsed) this.#keys.set(id, key);
  }

  encrypt(value: string, place: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#current.key, iv);
    cipher.setAAD(Buffer.from(place));
    const encrypted = Buffer.concat([iv, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `s1.${this.#current.id}.${encrypted.toString('base64url')}`;
  }

  /** @throws EncryptionError when no configured key encrypted it, or not for this place. */
  decrypt(encrypted: string, place: string): string {
    const [version, keyId, text] = encrypted.split('.');
    if (version !== 's1' || !keyId || text === undefined) throw new EncryptionError('This is not an encrypted value.');
    const key = this.#keys.get(keyId);
    if (!key) throw new EncryptionError(`A value is encrypted with the key ${keyId}, which is not configured.`);
    const bytes = Buffer.from(text, 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new EncryptionError(`An encrypted value cannot be decrypted for ${place}.`, { cause });
    }
  }
}

function parseKey(text: string): { id: string; key: Buffer } {
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (key.length !== KEY_BYTES) {
    throw new EncryptionError(`An encryption key must be ${KEY_BYTES} bytes in base64 or hex, not ${key.length}.`);
  }
  return { id: createHash('sha256').update('runyard key id').update(key).digest('hex').slice(0, 8), key };
}
