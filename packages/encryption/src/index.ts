export { Cipher, EncryptionError } from './cipher.ts';
export { createDataCipher, type DataCipher, NO_ENCRYPTION, openDataCipher } from './data-cipher.ts';
