/**
 * Encryption of what is stored.
 *
 * - `Cipher`: secrets of the platform, each bound to its place.
 * - `DataCipher`: content of a deployment. `openDataCipher`, `createDataCipher` and `NO_ENCRYPTION` are those of variables,
 *   and `ProjectCipher` encrypts under `DataKeys` that handlers of the project encrypt. `JSON_PLACES` names to those
 *   what they are given.
 * - `Signatures`: proofs that this platform has made a text, for one purpose each.
 * - `EncryptionScope`: runs work whose writes are encrypted like something else; `NO_SCOPE` changes nothing.
 * - `undecryptableValue`: what stands in lists for what cannot be decrypted; `EncryptionError`, `DataKeyError`: why;
 *   `KeyUnavailableError`: its key is not to be had here; `keyHeaderOf`: which key that is.
 *   `EncryptionUnavailableError`: handlers did not encrypt what was to be written.
 *   `JsonTooDeepError`: they were not asked.
 */
export { Cipher, EncryptionError } from './cipher.ts';
export {
  createDataCipher,
  type DataCipher,
  type EncryptionScope,
  type EncryptionVariables,
  NO_ENCRYPTION,
  NO_SCOPE,
  openDataCipher,
} from './data-cipher.ts';
export type { JsonKeyCipher } from './json-keys.ts';
export { JSON_PLACES, type JsonPlace } from './json-places.ts';
export { keyHeaderOf, keyIdOfHeader } from './key-header.ts';
export { KeyUnavailableError } from './key-unavailable-error.ts';
export { DataKeys, type DataKeysOptions } from './project/data-keys.ts';
export {
  DataKeyError,
  type DataKeyStore,
  type EncryptionMetadata,
  EncryptionUnavailableError,
  type JsonHandlers,
  JsonTooDeepError,
  type KeyHandlers,
  type PlacedJson,
  type StoredDataKey,
} from './project/types.ts';
export { ProjectCipher } from './project-cipher.ts';
export { Signatures } from './signatures.ts';
export { undecryptableValue } from './undecryptable-value.ts';
