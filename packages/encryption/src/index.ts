export { Cipher, EncryptionError } from './cipher.ts';
export {
  createDataCipher,
  type DataCipher,
  type EncryptionVariables,
  NO_ENCRYPTION,
  openDataCipher,
} from './data-cipher.ts';
export type { JsonKeyCipher } from './json-keys.ts';
export { undecryptableValue } from './undecryptable-value.ts';
