import { type AtRest, SealingError } from '@runyard/sealing';
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
const SEALED = '+aes';

/**
 * Encrypts checkpoints before they are stored: their own data, channel values and writes. Metadata stays readable,
 * because histories are searched by it. Without a key, reads of encrypted values fail with that reason, and writes stay
 * unencrypted.
 */
export function sealedCheckpoints(backend: CheckpointBackend, atRest: AtRest): CheckpointBackend {
  const seal = ({ type, data }: SerializedValue): SerializedValue => ({ type: type + SEALED, data: atRest.seal(data) });
  const open = (value: SerializedValue): SerializedValue =>
    value.type.endsWith(SEALED)
      ? { type: value.type.slice(0, -SEALED.length), data: opened(atRest, value.data) }
      : value;
  const sealPut = (put: CheckpointPut): CheckpointPut => ({
    ...put,
    checkpoint: seal(put.checkpoint),
    blobs: put.blobs.map((blob) => (blob.value ? { ...blob, value: seal(blob.value) } : blob)),
  });
  const sealWrites = (put: WritesPut): WritesPut => ({
    ...put,
    writes: put.writes.map((write) => ({ ...write, value: seal(write.value) })),
  });
  const openWrite = (write: PendingWrite): PendingWrite => ({ ...write, value: open(write.value) });
  const openStored = ({ interruptsBeforeRun, ...stored }: StoredCheckpoint): StoredCheckpoint => ({
    ...stored,
    checkpoint: open(stored.checkpoint),
    channelValues: stored.channelValues.map(({ channel, value }) => ({ channel, value: open(value) })),
    pendingWrites: stored.pendingWrites.map(openWrite),
    ...(interruptsBeforeRun && { interruptsBeforeRun: interruptsBeforeRun.map(openWrite) }),
  });
  const { channelHistories } = backend;
  return {
    async get(threadId, namespace, checkpointId) {
      const stored = await backend.get(threadId, namespace, checkpointId);
      return stored && openStored(stored);
    },
    list: async (query) => (await backend.list(query)).map(openStored),
    put: (put) => backend.put(atRest.isSealing ? sealPut(put) : put),
    putWrites: (put) => backend.putWrites(atRest.isSealing ? sealWrites(put) : put),
    deleteThread: (threadId) => backend.deleteThread(threadId),
    ...(channelHistories && {
      channelHistories: async (key, channels) =>
        (await channelHistories.call(backend, key, channels)).map((history) => ({
          ...history,
          ...(history.seed && { seed: open(history.seed) }),
          writes: history.writes.map(openWrite),
        })),
    }),
  };
}

function opened(atRest: AtRest, bytes: Uint8Array): Uint8Array {
  try {
    return atRest.open(bytes);
  } catch (error) {
    if (error instanceof SealingError) throw new BackendError('unreadable', error.message, { cause: error });
    throw error;
  }
}
