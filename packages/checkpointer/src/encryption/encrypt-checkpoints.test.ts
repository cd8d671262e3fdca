import { createDataCipher, NO_ENCRYPTION } from '@runyard/encryption';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CheckpointBackend, CheckpointPut, StoredCheckpoint } from '../backend.ts';
import { encryptCheckpoints } from './encrypt-checkpoints.ts';

const SECRET = 'the cat is in the kettle';
const own = createDataCipher('k'.repeat(32));
const other = createDataCipher('o'.repeat(32));

/** Keeps the last checkpoint as it was given. */
class Memory implements CheckpointBackend {
  stored: StoredCheckpoint | undefined;

  get = async () => this.stored;
  list = async () => (this.stored ? [this.stored] : []);
  put = async ({ key, checkpoint }: CheckpointPut) => {
    this.stored = { key, checkpoint, channelValues: [], pendingWrites: [] } as unknown as StoredCheckpoint;
  };
  putWrites = async () => undefined;
  deleteThread = async () => undefined;
}

let memory: Memory;
beforeEach(() => {
  memory = new Memory();
});

const put = {
  key: { threadId: 't', namespace: '', checkpointId: 'c' },
  checkpoint: { type: 'json', data: Buffer.from(SECRET) },
  blobs: [],
} as unknown as CheckpointPut;
const kept = () => Buffer.from(memory.stored!.checkpoint.data).toString('latin1');

describe('a checkpoint', () => {
  it('is encrypted where it is stored, and read as it was', async () => {
    const checkpoints = encryptCheckpoints(memory, own);
    await checkpoints.put(put);
    expect(kept()).not.toContain(SECRET);
    expect((await checkpoints.get('t', '', 'c'))?.checkpoint).toEqual(put.checkpoint);
  });

  it.each([
    ['another key', other],
    ['no key', NO_ENCRYPTION],
  ])('that was encrypted cannot be read with %s, and the error says so', async (_, cipher) => {
    await encryptCheckpoints(memory, own).put(put);
    const reader = encryptCheckpoints(memory, cipher);
    const refused = { reason: 'unreadable', message: expect.stringContaining('LANGGRAPH_AES_KEY') };
    await expect(reader.get('t', '', 'c')).rejects.toMatchObject(refused);
    await expect(reader.list({ threadId: 't' } as never)).rejects.toMatchObject(refused);
  });

  it('stays unencrypted without a key, and can be read after there is one', async () => {
    await encryptCheckpoints(memory, NO_ENCRYPTION).put(put);
    expect(kept()).toBe(SECRET);
    expect((await encryptCheckpoints(memory, own).get('t', '', 'c'))?.checkpoint).toEqual(put.checkpoint);
  });
});
