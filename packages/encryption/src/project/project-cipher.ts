import { AsyncLocalStorage } from 'node:async_hooks';
import { asBuffer, decryptBytes, encryptBytes } from '../aes-gcm.ts';
import { parseJsonKeys } from '../chosen-keys.ts';
import { EncryptionError } from '../cipher.ts';
import {
  createDataCipher,
  type DataCipher,
  type EncryptionScope,
  type EncryptionVariables,
  isAesEncrypted,
  NO_ENCRYPTION,
  NO_SCOPE,
} from '../data-cipher.ts';
import { createJsonKeyCipher, type JsonKeyCipher } from '../json-keys.ts';
import type { DataKeys } from './data-keys.ts';
import { findKeyIds, HEADER_BYTES, headerOf, isProjectEncrypted, keyIdOf } from './key-ids.ts';
import { ProjectJson } from './project-json.ts';
import type { DataKey, EncryptionMetadata, JsonHandlers } from './types.ts';

/**
 * Encrypts under the data key of the caller's context, which the project's handlers have given. The context is that of
 * the asynchronous work at hand: a request, or a run; where one writes for another, it takes the scope along.
 */
export class ProjectCipher implements DataCipher {
  readonly isEncrypting = true;
  readonly needsKeys = true;
  readonly json: JsonKeyCipher;
  readonly #keys: DataKeys;
  readonly #handled: ProjectJson;
  /** Decrypts what was written before the project encrypted. */
  readonly #before: DataCipher;
  readonly #current = new AsyncLocalStorage<DataKey | undefined>();
  #default: DataKey | undefined;

  /**
   * @param onFailure is called with what handlers of JSON failed with
   * @throws EncryptionError for an invalid LANGGRAPH_AES_KEY, and for JSON keys that cannot be encrypted
   */
  constructor(
    keys: DataKeys,
    { aesKey, aesJsonKeys }: EncryptionVariables,
    onFailure: (error: unknown) => void = () => undefined,
  ) {
    this.#keys = keys;
    this.#handled = new ProjectJson({ keys, currentKey: () => this.#currentKey(), onFailure });
    this.#before = aesKey ? createDataCipher(aesKey) : NO_ENCRYPTION;
    const ofValues = {
      encrypt: (bytes: Uint8Array) => this.encrypt(bytes),
      decrypt: (bytes: Uint8Array) => this.decrypt(bytes),
      isEncrypted: (bytes: Uint8Array) => isProjectEncrypted(bytes) || isAesEncrypted(bytes),
    };
    this.json = createJsonKeyCipher(parseJsonKeys(aesJsonKeys), ofValues, this.#handled);
  }

  /**
   * Gets the key for what is written in no context. Must resolve before anything is encrypted.
   *
   * @param json the handlers of a project that decides about JSON value by value
   * @throws DataKeyError
   */
  async open(json?: JsonHandlers): Promise<void> {
    this.#handled.use(json);
    this.#default = await this.#keys.forContext({});
  }

  /** Returns the scope of data in this context. @throws DataKeyError, and what the database throws */
  async scopeFor(metadata: EncryptionMetadata): Promise<EncryptionScope> {
    return this.#scope(await this.#keys.forContext(metadata));
  }

  scopeOf(stored?: Uint8Array): EncryptionScope {
    const current = this.#current.getStore();
    if (!stored) return current ? this.#scope(current) : NO_SCOPE;
    const id = keyIdOf(stored);
    // Whoever happens to call has nothing to do with stored data: without a key of its own it is in no context.
    return this.#scope(id === undefined ? undefined : this.#keys.get(id));
  }

  loadKeys(values: unknown): Promise<void> | undefined {
    const loading = this.#keys.load(findKeyIds(values));
    return loading ? loading.then(() => this.#handled.load(values)) : this.#handled.load(values);
  }

  encrypt(bytes: Uint8Array): Buffer {
    const key = this.#currentKey();
    return encryptBytes(key.bytes, bytes, headerOf(key.id));
  }

  decrypt(bytes: Uint8Array): Buffer {
    const id = isProjectEncrypted(bytes) ? keyIdOf(bytes) : undefined;
    if (id === undefined) return this.#before.decrypt(bytes);
    const key = this.#keys.get(id);
    if (!key) throw new EncryptionError('Data is encrypted with a key that "encryption.path" does not decrypt.');
    return decryptBytes(key.bytes, asBuffer(bytes), HEADER_BYTES);
  }

  #currentKey(): DataKey {
    const key = this.#current.getStore() ?? this.#default;
    if (!key) throw new EncryptionError('The project’s encryption is not open yet.');
    return key;
  }

  /** Keeps the key for as long as the work takes, also when others have pushed it out of memory. */
  #scope(key: DataKey | undefined): EncryptionScope {
    return (work) => this.#current.run(key, work);
  }
}
