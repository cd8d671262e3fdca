import { type DataCipher, JSON_PLACES } from '@runyard/encryption';
import type { NewThread, ThreadRecord } from './types.ts';

/** Encrypts chosen keys of metadata and config before a thread is stored. @throws EncryptionUnavailableError */
export async function encryptThread<T extends NewThread>({ json }: DataCipher, thread: T): Promise<T> {
  const [metadata, config] = await Promise.all([
    json.encrypt(thread.metadata, JSON_PLACES.threadMetadata),
    json.encrypt(thread.config, JSON_PLACES.threadConfig),
  ]);
  return { ...thread, metadata, ...(config && { config }) };
}

/** @throws EncryptionError */
export function decryptThread<T extends ThreadRecord>(cipher: DataCipher, thread: T): T {
  const { metadata, config } = thread;
  return { ...thread, metadata: cipher.json.decrypt(metadata), config: cipher.json.decrypt(config) };
}
