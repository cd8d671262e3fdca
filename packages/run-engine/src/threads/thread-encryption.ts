import type { DataCipher } from '@runyard/encryption';
import type { NewThread, ThreadRecord } from './types.ts';

/** Encrypts chosen keys of metadata and config before a thread is stored. */
export function encryptThread<T extends NewThread>(cipher: DataCipher, thread: T): T {
  const { metadata, config } = thread;
  return {
    ...thread,
    metadata: cipher.json.encrypt(metadata),
    ...(config && { config: cipher.json.encrypt(config) }),
  };
}

/** @throws EncryptionError */
export function decryptThread(cipher: DataCipher, thread: ThreadRecord): ThreadRecord {
  const { metadata, config } = thread;
  return { ...thread, metadata: cipher.json.decrypt(metadata), config: cipher.json.decrypt(config) };
}
