import { type DataCipher, EncryptionError, type JsonKeyCipher } from '@runyard/encryption';
import {
  BackendError,
  type CheckpointBackend,
  type CheckpointPut,
  type CheckpointQuery,
  type PendingWrite,
  type SerializedValue,
  type StoredCheckpoint,
  type WritesPut,
} from '../backend.ts';
import { CONTENT_KEYS, decryptMetadata, encryptMetadata, isJsonText } from './encrypt-metadata.ts';

/** Suffix of the type of an encrypted value. */
const ENCRYPTED = '+aes';

/**
 * Encrypts checkpoints before they are stored: their own data, channel values and writes. Metadata stays readable but
 * for the keys that the deployment chose, because histories are searched by it. Without a key, reads of encrypted
 * values fail with that reason, and writes stay unencrypted.
 */
export function encryptCheckpoints(backend: CheckpointBackend, cipher: DataCipher): CheckpointBackend {
  const json = cipher.json.with(CONTENT_KEYS);
  // Graphs write from another process, so that the context of the caller is known here alone.
  const inScope = cipher.scopeOf();
  const encrypt = ({ type, data }: SerializedValue): SerializedValue => ({
    type: type + ENCRYPTED,
    data: cipher.encrypt(data),
  });
  const decrypt = (value: SerializedValue): SerializedValue =>
    value.type.endsWith(ENCRYPTED)
      ? { type: value.type.slice(0, -ENCRYPTED.length), data: mapUndecryptable(() => cipher.decrypt(value.data)) }
      : value;
  const encryptPut = (put: CheckpointPut): CheckpointPut => ({
    ...put,
    checkpoint: encrypt(put.checkpoint),
    // Chosen keys cannot be found in what another serializer packed, so that is encrypted whole.
    metadata:
      cipher.json.isEncrypting && !isJsonText(put.metadata)
        ? encrypt(put.metadata)
        : encryptMetadata(put.metadata, json),
    metadataJson: json.encrypt(put.metadataJson),
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
    metadata: mapUndecryptable(() => decryptMetadata(decrypt(stored.metadata), json)),
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
    list: async (query) => (await backend.list(checkSearchable(query, json))).map(decryptStored),
    put: (put) => backend.put(cipher.isEncrypting ? inScope(() => encryptPut(put)) : put),
    putWrites: (put) => backend.putWrites(cipher.isEncrypting ? inScope(() => encryptWrites(put)) : put),
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

/** @throws BackendError `invalid` for a filter that could find nothing */
function checkSearchable(query: CheckpointQuery, json: JsonKeyCipher): CheckpointQuery {
  const key = json.findEncryptedKey(query.filter);
  if (key === undefined) return query;
  throw new BackendError('invalid', `filter: "${key}" is encrypted at rest and cannot be searched by`);
}

function mapUndecryptable<T>(decrypt: () => T): T {
  try {
    return decrypt();
  } catch (error) {
    if (error instanceof EncryptionError) throw new BackendError('unreadable', error.message, { cause: error });
    throw error;
  }
}
