/** Types of the encryption by handlers of a project. */

/** The context of encrypted data, as the project's code chose it: plain JSON, stored readable beside the data key. */
export type EncryptionMetadata = Record<string, unknown>;

/** A key that encrypts data of one context. */
export interface DataKey {
  /** A digest of the key, in hexadecimal: it shows that handlers have returned the right one. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** A data key as it is stored: only the project's handlers can decrypt it. */
export interface StoredDataKey {
  id: string;
  metadata: EncryptionMetadata;
  encrypted: Uint8Array;
  createdAt: Date;
}

export interface DataKeyStore {
  /** Returns those of the keys that exist. */
  find(ids: string[]): Promise<StoredDataKey[]>;
  /** Returns the newest key of a context. @param digest of its metadata */
  newest(digest: Buffer): Promise<StoredDataKey | undefined>;
  add(key: Omit<StoredDataKey, 'createdAt'> & { digest: Buffer }): Promise<void>;
  /** Replaces the stored form of a key, unless it has been replaced meanwhile. */
  replace(key: StoredDataKey, encrypted: Uint8Array): Promise<void>;
}

/** The handlers of the project. They may fail in any way, but take a limited time. */
export interface KeyHandlers {
  encrypt(metadata: EncryptionMetadata, bytes: Uint8Array): Promise<Uint8Array>;
  /** Returns a `replacement` to store instead, where the project has changed its own key. */
  decrypt(
    metadata: EncryptionMetadata,
    bytes: Uint8Array,
  ): Promise<{ plaintext: Uint8Array; replacement?: Uint8Array | undefined }>;
}

/** The project's handlers gave no data key. The message is for the log: it may say what the project's code said. */
export class DataKeyError extends Error {
  override readonly name = 'DataKeyError';
}
