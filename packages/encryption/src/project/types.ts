/** Types of the encryption by handlers of a project. */
import type { JsonPlace } from '../json-places.ts';

/** The context of encrypted data, as the project's code chose it: plain JSON, stored readable beside the data key. */
export type EncryptionMetadata = Record<string, unknown>;

/** A key that encrypts data of one context. */
export interface DataKey {
  /** A digest of the key, in hexadecimal: it shows that handlers have returned the right one. */
  readonly id: string;
  readonly bytes: Buffer;
  /** The context whose data it encrypts. */
  readonly metadata: EncryptionMetadata;
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

/** JSON that a handler gets. */
export interface PlacedJson {
  place: JsonPlace;
  data: Record<string, unknown>;
}

/** The handlers of a project that decides about JSON value by value. They may fail in any way, but take a limited time. */
export interface JsonHandlers {
  /** Returns what the project made of each object, in their order; an error concerns that object alone. */
  encrypt(metadata: EncryptionMetadata, objects: PlacedJson[]): Promise<JsonAnswer[]>;
  decrypt(metadata: EncryptionMetadata, objects: PlacedJson[]): Promise<JsonAnswer[]>;
}

export type JsonAnswer = Record<string, unknown> | Error;

/** The project's handlers did not encrypt what was to be written. Nothing was. The cause says why, for the log. */
export class EncryptionUnavailableError extends Error {
  override readonly name = 'EncryptionUnavailableError';

  constructor(cause: unknown) {
    super('The project’s encryption is not available', { cause });
  }
}

/** JSON is nested so deeply that handlers of the project cannot be asked about all objects inside of it. */
export class JsonTooDeepError extends RangeError {
  override readonly name = 'JsonTooDeepError';

  constructor() {
    super('JSON is nested too deeply to be encrypted');
  }
}

/** The project's handlers gave no data key. The message is for the log: it may say what the project's code said. */
export class DataKeyError extends Error {
  override readonly name = 'DataKeyError';
}
