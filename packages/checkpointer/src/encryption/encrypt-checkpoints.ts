import { type DataCipher, EncryptionError } from '@runyard/encryption';
import {
  BackendError,
  type CheckpointBackend,
  type CheckpointPut,
  type PendingWrite,
  type SerializedValue,
  type StoredCheckpoint,
  type WritesPut,
} from '../backend.ts';

/** Suffix of the type of an encrypted value. */
const ENCRYPTED = '+aes';

/**
 * Encrypts checkpoints before they are stored: their own data, channel values and writes. Metadata stays readable,
 * because histories are searched by it. Without a key, reads of encrypted values fail with that reason, and writes stay
 * unencrypted.
 */
export function encryptCheckpoints(backend: CheckpointBackend, cipher: DataCipher): CheckpointBackend {
  const encrypt = ({ type, data }: SerializedValue): SerializedValue => ({
    type: type + ENCRYPTED,
    data: cipher.encrypt(data),
  });
  const decrypt = (value: SerializedValue): SerializedValue =>
    value.type.endsWith(ENCRYPTED)
      ? { type: value.type.slice(0, -ENCRYPTED.length), data: decryptBytes(cipher, value.data) }
      : value;
  const encryptPut = (put: CheckpointPut): CheckpointPut => ({
    ...put,
    checkpoint: encrypt(put.checkpoint),
    blobs: put.blobs.map((blob) => (blob.value ? { ...blob, value: encrypt(blob.value) } : blob)),
  });
  const encryptWrites = (put: WritesPut): WritesPut => ({
    ...put,
    writes: put.writes.map((write) => ({ ...write, value: encrypt(write.value) })),
  });
  const decryptWrite = (write: PendingWrite): PendingWrite => ({ ...write, value: decrypt(write.value) });
  const decryptStored = ({ interruptsBeforeRun, ...stored }: StoredCheckpoint): StoredCheckpoint => ({
    ...stored,
    checkpoint: decrypt(stored.checkpoint),
    channelValues: stored.channelValues.map(({ channel, value }) => ({ channel, value: decrypt(value) })),
    pendingWrites: stored.pendingWrites.map(decryptWrite),
    ...(interruptsBeforeRun && { interruptsBeforeRun: interruptsBeforeRun.map(decryptWrite) }),
  });
  const { channelHistories } = backend;
  return {
    async get(threadId, namespace, checkpointId) {
      const stored = await backend.get(threadId, namespace, checkpointId);
      return stored && decryptStored(stored);
    },
    list: async (query) => (await backend.list(query)).map(decryptStored),
    put: (put) => backend.put(cipher.isEncrypting ? encryptPut(put) : put),
    putWrites: (put) => backend.putWrites(cipher.isEncrypting ? encryptWrites(put) : put),
    deleteThread: (threadId) => backend.deleteThread(threadId),
    ...(channelHistories && {
      channelHistories: async (key, channels) =>
        (await channelHistories.call(backend, key, channels)).map((history) => ({
          ...history,
          ...(history.seed && { seed: decrypt(history.seed) }),
          writes: history.writes.map(decryptWrite),
        })),
    }),
  };
}

function decryptBytes(cipher: DataCipher, bytes: Uint8Array): Uint8Array {
  try {
    return cipher.decrypt(bytes);
  } catch (error) {
    if (error instanceof EncryptionError) throw new BackendError('unreadable', error.message, { cause: error });
    throw error;
  }
}
