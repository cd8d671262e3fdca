import { AsyncLocalStorage } from 'node:async_hooks';
import { asBuffer, decryptBytes, encryptBytes } from './aes-gcm.ts';
import { parseJsonKeys } from './chosen-keys.ts';
import {
  type DataCipher,
  type EncryptionScope,
  type EncryptionVariables,
  isAesEncrypted,
  NO_SCOPE,
  openDataCipher,
} from './data-cipher.ts';
import { createJsonKeyCipher, type JsonKeyCipher } from './json-keys.ts';
import { KeyUnavailableError } from './key-unavailable-error.ts';
import type { DataKeys } from './project/data-keys.ts';
import { findKeyIds, HEADER_BYTES, headerOf, isProjectEncrypted, keyIdOf } from './project/key-ids.ts';
import { ProjectJson } from './project/project-json.ts';
import {
  type DataKey,
  DataKeyError,
  type EncryptionMetadata,
  EncryptionUnavailableError,
  type JsonHandlers,
} from './project/types.ts';

/** The context of what belongs to nobody, and of projects that choose none. */
const NO_CONTEXT: EncryptionMetadata = {};

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
  readonly #current = new AsyncLocalStorage<DataKey>();
  /** The key of work in no context, which encrypts without waiting; undefined once the handlers do not give it. */
  #ofNoContext: DataKey | undefined;

  /**
   * @param onFailure is called with what handlers of JSON failed with
   * @throws EncryptionError for an invalid LANGGRAPH_AES_KEY, and for JSON keys that cannot be encrypted
   */
  constructor(
    keys: DataKeys,
    { aesKey, aesJsonKeys, platformKeys }: EncryptionVariables,
    onFailure: (error: unknown) => void = () => undefined,
  ) {
    this.#keys = keys;
    this.#handled = new ProjectJson({ keys, currentKey: () => this.#currentKey(), onFailure });
    this.#before = openDataCipher({ aesKey, platformKeys });
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
    await this.#keyFor(NO_CONTEXT);
  }

  /** Returns the scope of data in this context. @throws DataKeyError, and what the database throws */
  async scopeFor(metadata: EncryptionMetadata): Promise<EncryptionScope> {
    return this.#scope(await this.#keyFor(metadata));
  }

  currentScope(): EncryptionScope {
    const key = this.#current.getStore();
    return key ? this.#scope(key) : NO_SCOPE;
  }

  scopeOf(stored: Uint8Array): EncryptionScope | Promise<EncryptionScope> {
    const context = this.#contextOf(stored);
    const key = context && this.#keys.knownFor(context);
    return key ? this.#scope(key) : this.#openScopeOf(stored);
  }

  async #openScopeOf(stored: Uint8Array): Promise<EncryptionScope> {
    try {
      await this.#keys.load(findKeyIds(stored));
      const context = this.#contextOf(stored);
      if (!context) throw new DataKeyError('The key of stored data is not decrypted.');
      return await this.scopeFor(context);
    } catch (error) {
      throw error instanceof DataKeyError ? new EncryptionUnavailableError(error) : error;
    }
  }

  /** Returns the context of stored data; undefined while its key is not loaded. */
  #contextOf(stored: Uint8Array): EncryptionMetadata | undefined {
    const id = keyIdOf(stored);
    // Whoever happens to call has nothing to do with stored data: without a key of its own it is in no context.
    return id === undefined ? NO_CONTEXT : this.#keys.get(id)?.metadata;
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
    if (key) return decryptBytes(key.bytes, asBuffer(bytes), HEADER_BYTES);
    throw new KeyUnavailableError(id, 'Data is encrypted with a key that "encryption.path" does not decrypt.');
  }

  #currentKey(): DataKey {
    const key = this.#current.getStore() ?? this.#keys.knownFor(NO_CONTEXT);
    if (key) return key;
    // This write does not wait for the key that is due; those after it have it, or none.
    void this.#keyFor(NO_CONTEXT).catch(() => undefined);
    if (this.#ofNoContext) return this.#ofNoContext;
    throw new EncryptionUnavailableError(new DataKeyError('There is no key for data in no context.'));
  }

  /** Returns the key for new data of a context. @throws DataKeyError, and what the database throws */
  async #keyFor(metadata: EncryptionMetadata): Promise<DataKey> {
    const isOfNoContext = Object.keys(metadata).length === 0;
    try {
      const key = await this.#keys.forContext(metadata);
      if (isOfNoContext) this.#ofNoContext = key;
      return key;
    } catch (error) {
      if (isOfNoContext) this.#ofNoContext = undefined;
      throw error;
    }
  }

  /** Keeps the key for as long as the work takes, also when others have pushed it out of memory. */
  #scope(key: DataKey): EncryptionScope {
    return (work) => this.#current.run(key, work);
  }
}
