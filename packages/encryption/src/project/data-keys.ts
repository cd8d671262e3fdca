import { createHash, randomBytes } from 'node:crypto';
import { canonicalJson } from './canonical-json.ts';
import { FreshMap } from './fresh-map.ts';
import {
  type DataKey,
  DataKeyError,
  type DataKeyStore,
  type EncryptionMetadata,
  type KeyHandlers,
  type StoredDataKey,
} from './types.ts';

export interface DataKeysOptions {
  store: DataKeyStore;
  handlers: KeyHandlers;
  /** Is called with what handlers failed with, once for each failed load. */
  onFailure(error: unknown): void;
  /** The most keys that are kept decrypted. Default 10,000, some 3 MB. */
  keysMax?: number;
  /** Milliseconds after which a key is decrypted again, so that a withdrawn one is not used for long. Default 1 h. */
  keptMs?: number;
  /** Milliseconds for which it is used on while handlers fail, so that short outages are no loss. Default 10 min. */
  graceMs?: number;
  /** Milliseconds for which a failed key is not asked for again. Default 5 s. */
  failedMs?: number;
  /** Milliseconds after which new data of a context gets another key. Default 30 days. */
  renewAfterMs?: number;
}

const KEY_BYTES = 32;
const ID_BYTES = 16;
/** Keys of one result that handlers decrypt at a time. */
const AT_ONCE = 16;
/** Milliseconds for all keys of one result: its transaction may hold locks. */
const LOAD_MS = 10_000;

/**
 * The data keys of a deployment, of which this process keeps those in use. Data is encrypted here; the project's
 * handlers encrypt and decrypt one key for each context, once per process and hour. So whatever they take is waited for
 * before a request is handled, and after rows were read, and nowhere between.
 */
export class DataKeys {
  readonly #options: Required<DataKeysOptions>;
  readonly #keys: FreshMap<DataKey>;
  readonly #newest: FreshMap<DataKey>;
  readonly #failed: FreshMap<true>;
  readonly #loading = new Map<string, Promise<void>>();
  /** Contexts whose key is being made or was not to be had lately. */
  readonly #opening = new Map<string, Promise<DataKey>>();

  constructor(options: DataKeysOptions) {
    this.#options = {
      keysMax: 10_000,
      keptMs: 3_600_000,
      graceMs: 600_000,
      failedMs: 5_000,
      renewAfterMs: 30 * 86_400_000,
      ...options,
    };
    const { keysMax, keptMs, failedMs } = this.#options;
    this.#keys = new FreshMap(keysMax, keptMs);
    this.#newest = new FreshMap(keysMax, keptMs);
    this.#failed = new FreshMap(keysMax, failedMs);
  }

  /** Returns a key that is loaded, even when it should be loaded again by now. */
  get(id: string): DataKey | undefined {
    return this.#keys.get(id);
  }

  /**
   * Loads those of the keys that are not; undefined when all are, or were not to be had a moment ago. A key that the
   * handlers do not decrypt is missing afterwards. @throws what the store throws
   */
  load(ids: Iterable<string>): Promise<void> | undefined {
    const missing = [...ids].filter((id) => !this.#keys.isFresh(id) && !this.#failed.isFresh(id));
    if (missing.length === 0) return undefined;
    const starting = missing.filter((id) => !this.#loading.has(id));
    if (starting.length > 0) {
      const batch = this.#loadAll(starting).finally(() => {
        for (const id of starting) this.#loading.delete(id);
      });
      for (const id of starting) this.#loading.set(id, batch);
    }
    return Promise.all(missing.map((id) => this.#loading.get(id))).then(() => undefined);
  }

  /** Returns the key for new data of a context, if there is nothing to wait for. */
  knownFor(metadata: EncryptionMetadata): DataKey | undefined {
    const text = canonicalJson(metadata);
    const known = this.#newest.isFresh(text) ? this.#newest.get(text) : undefined;
    return known && this.#loaded(known.id);
  }

  /** Returns the key for new data of a context. @throws DataKeyError, and what the store throws */
  async forContext(metadata: EncryptionMetadata): Promise<DataKey> {
    const known = this.knownFor(metadata);
    if (known) return known;
    const text = canonicalJson(metadata);
    let opening = this.#opening.get(text);
    if (!opening) {
      opening = this.#openOrKeep(metadata, text);
      this.#opening.set(text, opening);
    }
    return opening;
  }

  async #openOrKeep(metadata: EncryptionMetadata, text: string): Promise<DataKey> {
    const { onFailure, failedMs, graceMs } = this.#options;
    const forget = () => void this.#opening.delete(text);
    try {
      const key = await this.#open(metadata, text);
      forget();
      return key;
    } catch (error) {
      onFailure(error);
      // The outcome is kept for a moment, so that requests do not queue up behind handlers that hang.
      setTimeout(forget, failedMs).unref();
      const before = this.#newest.get(text);
      if (!before || !this.#keys.isFresh(before.id, graceMs)) throw error;
      return before;
    }
  }

  async #open(metadata: EncryptionMetadata, text: string): Promise<DataKey> {
    const { store, renewAfterMs } = this.#options;
    const digest = createHash('sha256').update(text).digest();
    const newest = await store.newest(digest);
    const isUsable = newest !== undefined && Date.now() - newest.createdAt.getTime() < renewAfterMs;
    const key = isUsable
      ? (this.#loaded(newest.id) ?? (await this.#decrypt(newest)))
      : await this.#create(metadata, digest);
    this.#newest.set(text, key);
    return key;
  }

  /** Returns a key that need not be decrypted again yet. */
  #loaded(id: string): DataKey | undefined {
    return this.#keys.isFresh(id) ? this.#keys.get(id) : undefined;
  }

  async #create(metadata: EncryptionMetadata, digest: Buffer): Promise<DataKey> {
    const { store, handlers } = this.#options;
    const bytes = randomBytes(KEY_BYTES);
    const encrypted = Buffer.from(await handlers.encrypt(metadata, bytes).catch(throwDataKeyError));
    if (encrypted.includes(bytes)) throw new DataKeyError('encrypt.blob returned what it got, unencrypted');
    const { plaintext } = await handlers.decrypt(metadata, encrypted).catch(throwDataKeyError);
    if (!bytes.equals(plaintext)) throw new DataKeyError('decrypt.blob did not return what encrypt.blob had got');
    const key = { id: idOf(bytes), bytes, metadata };
    await store.add({ id: key.id, metadata, digest, encrypted });
    this.#keys.set(key.id, key);
    return key;
  }

  async #loadAll(ids: string[]): Promise<void> {
    const { store, onFailure, graceMs } = this.#options;
    const giveUpAt = performance.now() + LOAD_MS;
    const stored = await store.find(ids);
    const loadSome = async () => {
      for (let next = stored.pop(); next && performance.now() < giveUpAt; next = stored.pop()) {
        await this.#decrypt(next).catch(onFailure);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, loadSome));
    for (const id of ids) {
      if (this.#keys.isFresh(id)) continue;
      this.#failed.set(id, true);
      if (!this.#keys.isFresh(id, graceMs)) this.#keys.delete(id);
    }
  }

  async #decrypt(stored: StoredDataKey): Promise<DataKey> {
    const { handlers } = this.#options;
    const decrypting = handlers.decrypt(stored.metadata, stored.encrypted);
    const { plaintext, replacement } = await decrypting.catch(throwDataKeyError);
    const key = { id: idOf(plaintext), bytes: Buffer.from(plaintext), metadata: stored.metadata };
    if (key.id !== stored.id) throw new DataKeyError('decrypt.blob did not return what encrypt.blob had got');
    this.#keys.set(key.id, key);
    this.#failed.delete(key.id);
    if (replacement) await this.#replace(stored, key, replacement).catch(this.#options.onFailure);
    return key;
  }

  /** Stores the replacement, once it is sure that it stands for the same key. */
  async #replace(stored: StoredDataKey, key: DataKey, replacement: Uint8Array): Promise<void> {
    const { store, handlers } = this.#options;
    const encrypted = Buffer.from(replacement);
    const { plaintext } = await handlers.decrypt(stored.metadata, encrypted);
    if (encrypted.includes(key.bytes) || !key.bytes.equals(plaintext)) {
      throw new DataKeyError('the replacement that decrypt.blob returned does not stand for the same data');
    }
    await store.replace(stored, encrypted);
  }
}

/** Tells failures of handlers from those of the store. */
function throwDataKeyError(cause: unknown): never {
  throw new DataKeyError(cause instanceof Error ? cause.message : String(cause), { cause });
}

function idOf(bytes: Uint8Array): string {
  return createHash('sha256').update('runyard data key').update(bytes).digest().subarray(0, ID_BYTES).toString('hex');
}
