import { EncryptionError } from './cipher.ts';
import { undecryptableValue } from './undecryptable-value.ts';

/** Encrypts the values of chosen keys inside JSON that is otherwise stored readable, to be searched. */
export interface JsonKeyCipher {
  /** False when no keys were chosen: then nothing new is encrypted. */
  readonly isEncrypting: boolean;
  /** Returns the JSON with the values of the keys encrypted, at every depth; the same object when it has none. */
  encrypt<T>(json: T): T;
  /** @throws EncryptionError when a value was encrypted with a key that is not configured, or was changed */
  decrypt<T>(json: T): T;
  /** Decrypts what is shown in a list: `{"__error__": …}` stands for a value that cannot be decrypted. */
  decryptListed<T>(json: T): T;
  /** Returns a key that the JSON of a search names and that is stored encrypted; undefined when there is none. */
  findEncryptedKey(json: unknown): string | undefined;
  /** Returns a cipher that encrypts these keys as well; without a key to encrypt with, none. */
  with(keys: readonly string[]): JsonKeyCipher;
}

/** Encrypts and decrypts the bytes of one value. */
interface ValueCipher {
  encrypt(bytes: Uint8Array): Buffer;
  decrypt(bytes: Uint8Array): Buffer;
  /** Returns whether these bytes are an encrypted value. */
  isEncrypted(bytes: Uint8Array): boolean;
}

/** Begins each encrypted value, as in other servers of this API. */
const PREFIX = 'encrypted.aes:';

/** Leaves all JSON as it is: without a key nothing is encrypted, and ciphertext is shown as the text it is. */
export const NO_JSON_KEYS: JsonKeyCipher = {
  isEncrypting: false,
  encrypt: (json) => json,
  decrypt: (json) => json,
  decryptListed: (json) => json,
  findEncryptedKey: () => undefined,
  with: () => NO_JSON_KEYS,
};

/**
 * Encrypts the values of these keys. Text that only looks encrypted is encrypted under any key, so that nobody can
 * store a value that the platform would fail to decrypt.
 */
export function createJsonKeyCipher(keys: ReadonlySet<string>, cipher: ValueCipher): JsonKeyCipher {
  const encryptedBytes = (value: unknown): Buffer | undefined => {
    if (typeof value !== 'string' || !value.startsWith(PREFIX)) return undefined;
    const bytes = Buffer.from(value.slice(PREFIX.length), 'base64');
    return cipher.isEncrypted(bytes) ? bytes : undefined;
  };
  const encryptValue = (value: unknown, key?: string): unknown => {
    if (value === null || value === undefined) return value;
    const isListed = key !== undefined && keys.has(key);
    if (!isListed && encryptedBytes(value) === undefined) return value;
    return PREFIX + cipher.encrypt(Buffer.from(JSON.stringify(value))).toString('base64');
  };
  const decryptValue = (value: unknown): unknown => {
    const bytes = encryptedBytes(value);
    return bytes === undefined ? value : JSON.parse(cipher.decrypt(bytes).toString('utf8'));
  };
  const decryptListedValue = (value: unknown): unknown => {
    try {
      return decryptValue(value);
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      return undecryptableValue(error);
    }
  };
  return {
    isEncrypting: keys.size > 0,
    encrypt: (json) => replaceValues(json, encryptValue),
    decrypt: (json) => replaceValues(json, decryptValue),
    decryptListed: (json) => replaceValues(json, decryptListedValue),
    findEncryptedKey(json) {
      let found: string | undefined;
      replaceValues(json, (value, key) => {
        if (key !== undefined && keys.has(key)) found ??= key;
        return value;
      });
      return found;
    },
    with: (more) => createJsonKeyCipher(new Set([...keys, ...more]), cipher),
  };
}

/**
 * Replaces values from the outside in: a replaced one is not looked into. Returns the same object when nothing is
 * replaced.
 */
function replaceValues<T>(json: T, replace: (value: unknown, key?: string) => unknown): T {
  const walk = (value: unknown, key?: string): unknown => {
    const replaced = replace(value, key);
    if (replaced !== value || value === null || typeof value !== 'object') return replaced;
    let copy: Record<string, unknown> | unknown[] | undefined;
    for (const [name, inner] of Object.entries(value)) {
      const changed = walk(inner, Array.isArray(value) ? undefined : name);
      if (changed === inner) continue;
      copy ??= Array.isArray(value) ? [...value] : { ...value };
      (copy as Record<string, unknown>)[name] = changed;
    }
    return copy ?? value;
  };
  return walk(json) as T;
}
