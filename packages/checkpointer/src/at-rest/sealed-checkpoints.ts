import type { AtRest } from '@runyard/sealing';
import type { CheckpointBackend, PendingWrite, SerializedValue, StoredCheckpoint } from '../backend.ts';

/** After the type of a value whose bytes are sealed. */
const SEALED = '+aes';

/**
 * Checkpoints that are encrypted where they are stored: their own data, channel values and writes. Their metadata is not: it is
 * what histories are searched by.
 */
export function sealedCheckpoints(backend: CheckpointBackend, atRest: AtRest): CheckpointBackend {
  const seal = ({ type, data }: SerializedValue): SerializedValue => ({ type: type + SEALED, data: atRest.seal(data) });
  const open = (value: SerializedValue): SerializedValue =>
    value.type.endsWith(SEALED) ? { type: value.type.slice(0, -SEALED.length), data: atRest.open(value.data) } : value;
  const openWrite = (write: PendingWrite): PendingWrite => ({ ...write, value: open(write.value) });
  const openStored = (stored: StoredCheckpoint): StoredCheckpoint => ({
    ...stored,
    checkpoint: open(stored.checkpoint),
    channelValues: stored.channelValues.map(({ channel, value }) => ({ channel, value: open(value) })),
    pendingWrites: stored.pendingWrites.map(openWrite),
  });
  const { channelHistories } = backend;
  return {
    async get(threadId, namespace, checkpointId) {
      const stored = await backend.get(threadId, namespace, checkpointId);
      return stored && openStored(stored);
    },
    list: async (query) => (await backend.list(query)).map(openStored),
    put: (put) =>
      backend.put({
        ...put,
        checkpoint: seal(put.checkpoint),
        blobs: put.blobs.map((blob) => (blob.value ? { ...blob, value: seal(blob.value) } : blob)),
      }),
    putWrites: (put) =>
      backend.putWrites({ ...put, writes: put.writes.map((write) => ({ ...write, value: seal(write.value) })) }),
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
