import { type DataCipher, JSON_PLACES, type JsonKeyCipher } from '@runyard/encryption';
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
import { metadataJsonOf } from '../metadata-json.ts';
import { CONTENT_KEYS, decryptMetadata, encryptMetadata, isJsonText } from './encrypt-metadata.ts';
import { mapEncryptionFailure } from './encryption-failure.ts';
import { Turns } from './turns.ts';

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
  const inScope = cipher.currentScope();
  const turns = new Turns();
  const encrypt = ({ type, data }: SerializedValue): SerializedValue => ({
    type: type + ENCRYPTED,
    data: cipher.encrypt(data),
  });
  const decrypt = (value: SerializedValue): SerializedValue =>
    value.type.endsWith(ENCRYPTED)
      ? { type: value.type.slice(0, -ENCRYPTED.length), data: mapUndecryptable(() => cipher.decrypt(value.data)) }
      : value;
  // Chosen keys cannot be found in what another serializer packed, so that is encrypted whole. So is what handlers of
  // the project would have to be asked for at each read; they are asked for the copy that is searched.
  const isEncryptedWhole = (metadata: SerializedValue) =>
    cipher.json.hasHandlers || (cipher.json.isEncrypting && !isJsonText(metadata));
  const encryptPut = async (put: CheckpointPut): Promise<CheckpointPut> => {
    const isWhole = isEncryptedWhole(put.metadata);
    // Text that is encrypted key by key is the text that is searched.
    const hasOwnJson = isWhole || put.metadataJson !== undefined;
    const [metadata, metadataJson] = await Promise.all([
      isWhole ? encrypt(put.metadata) : encryptMetadata(put.metadata, json),
      hasOwnJson ? json.encrypt(metadataJsonOf(put), JSON_PLACES.checkpointMetadata) : undefined,
    ]).catch(throwMapped);
    return {
      ...put,
      checkpoint: encrypt(put.checkpoint),
      metadata,
      ...(metadataJson && { metadataJson }),
      blobs: put.blobs.map((blob) => (blob.value ? { ...blob, value: encrypt(blob.value) } : blob)),
    };
  };
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
    list: async (query) => (await backend.list(await checkSearchable(query, json))).map(decryptStored),
    put: async (put) =>
      cipher.isEncrypting ? backend.put(await turns.take(inScope(() => encryptPut(put)))) : backend.put(put),
    putWrites: async (put) =>
      cipher.isEncrypting
        ? backend.putWrites(await turns.take(inScope(() => encryptWrites(put))))
        : backend.putWrites(put),
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

/** @throws BackendError `invalid` for a filter that could find nothing, and `encryption_failed` */
async function checkSearchable(query: CheckpointQuery, json: JsonKeyCipher): Promise<CheckpointQuery> {
  const asked = Promise.resolve(json.findEncryptedKey(query.filter, JSON_PLACES.checkpointMetadata));
  const key = await asked.catch(throwMapped);
  if (key === undefined) return query;
  throw new BackendError('invalid', `filter: "${key}" is encrypted at rest and cannot be searched by`);
}

function mapUndecryptable<T>(decrypt: () => T): T {
  try {
    return decrypt();
  } catch (error) {
    return throwMapped(error);
  }
}

function throwMapped(error: unknown): never {
  throw mapEncryptionFailure(error);
}
