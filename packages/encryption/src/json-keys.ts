import { EncryptionError } from './cipher.ts';
import type { JsonPlace } from './json-places.ts';
import { withoutProjectEncryption } from './key-unavailable-error.ts';
import { keyIdOfMark, markedBytes } from './project/json-marks.ts';
import { type ProjectJson, StoredText } from './project/project-json.ts';
import { undecryptableValue } from './undecryptable-value.ts';

/** Encrypts single values inside JSON that is otherwise stored readable, to be searched. */
export interface JsonKeyCipher {
  /** False when no keys were chosen and no handlers choose: then nothing new is encrypted. */
  readonly isEncrypting: boolean;
  /** True when handlers of the project are asked: then `encrypt` and `findEncryptedKey` may take seconds. */
  readonly hasHandlers: boolean;
  /**
   * Returns the JSON with the values of the chosen keys encrypted, at every depth, and those that handlers of the
   * project choose as these encrypt them; the same object when nothing is encrypted.
   *
   * @throws EncryptionUnavailableError when handlers fail
   */
  encrypt<T>(json: T, place: JsonPlace): T | Promise<T>;
  /** @throws EncryptionError when a value was encrypted with a key that is not configured, or was changed */
  decrypt<T>(json: T): T;
  /** Decrypts what is shown in a list: `{"__error__": …}` stands for a value that cannot be decrypted. */
  decryptListed<T>(json: T): T;
  /**
   * Returns a key that the JSON of a search names and that is stored encrypted; undefined when there is none. Operators
   * (`{n: {$gt: 1}}`) stand for their operands.
   *
   * @throws EncryptionUnavailableError when handlers fail
   */
  findEncryptedKey(json: unknown, place: JsonPlace): string | undefined | Promise<string | undefined>;
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
  hasHandlers: false,
  encrypt: (json) => json,
  decrypt: (json) => json,
  decryptListed: (json) => json,
  findEncryptedKey: () => undefined,
  with: () => NO_JSON_KEYS,
};

/**
 * Encrypts the values of these keys, and those that handlers of the project choose. Text that only looks encrypted is
 * encrypted under any key, so that nobody can store a value that the platform would fail to decrypt.
 */
export function createJsonKeyCipher(
  keys: ReadonlySet<string>,
  cipher: ValueCipher,
  project?: ProjectJson,
): JsonKeyCipher {
  const encryptedBytes = (value: unknown): Buffer | undefined => {
    if (typeof value !== 'string' || !value.startsWith(PREFIX)) return undefined;
    const bytes = Buffer.from(value.slice(PREFIX.length), 'base64');
    return cipher.isEncrypted(bytes) ? bytes : undefined;
  };
  const encryptValue = (value: unknown, key?: string): unknown => {
    if (value === null || value === undefined) return value;
    const isListed = key !== undefined && keys.has(key);
    const isImitation = encryptedBytes(value) !== undefined || markedBytes(value) !== undefined;
    if (!isListed && !isImitation) return value;
    return PREFIX + cipher.encrypt(Buffer.from(JSON.stringify(value))).toString('base64');
  };
  const decryptValue = (value: unknown): unknown => {
    const bytes = encryptedBytes(value);
    if (bytes !== undefined) return JSON.parse(cipher.decrypt(bytes).toString('utf8'));
    return markedBytes(value) === undefined ? value : decryptHandled(value as string, project);
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
    get isEncrypting() {
      return keys.size > 0 || this.hasHandlers;
    },
    get hasHandlers() {
      return project?.hasHandlers ?? false;
    },
    encrypt(json, place) {
      const handled = project?.encrypt(json, place);
      if (!handled) return replaceValues(json, encryptValue);
      const encryptRest = (value: unknown, key?: string) =>
        value instanceof StoredText ? value.text : encryptValue(value, key);
      return handled.then((made) => replaceValues(made, encryptRest));
    },
    decrypt: (json) => replaceValues(json, decryptValue),
    decryptListed: (json) => replaceValues(json, decryptListedValue),
    findEncryptedKey(json, place) {
      let found: string | undefined;
      replaceValues(json, (value, key) => {
        if (key !== undefined && keys.has(key)) found ??= key;
        return value;
      });
      return found ?? project?.findEncryptedKey(json, place);
    },
    with: (more) => createJsonKeyCipher(new Set([...keys, ...more]), cipher, project),
  };
}

/** @throws EncryptionError */
function decryptHandled(text: string, project: ProjectJson | undefined): unknown {
  if (project) return project.decrypt(text);
  throw withoutProjectEncryption(keyIdOfMark(text) ?? '');
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
