import type { DataCipher } from '@runyard/encryption';
import type { PushSecrets } from './push-types.ts';

export function encodeSecrets(secrets: PushSecrets, cipher: DataCipher): Buffer {
  return cipher.encrypt(Buffer.from(JSON.stringify(secrets)));
}

/** @throws EncryptionError */
export function decodeSecrets(bytes: Uint8Array, cipher: DataCipher): PushSecrets {
  return JSON.parse(cipher.decrypt(bytes).toString('utf8')) as PushSecrets;
}
