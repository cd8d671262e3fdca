import { PLAIN, sealedAtRest } from '@runyard/sealing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CheckpointBackend, CheckpointPut, StoredCheckpoint } from '../backend.ts';
import { sealedCheckpoints } from './sealed-checkpoints.ts';

const SECRET = 'the cat is in the kettle';
const own = sealedAtRest('k'.repeat(32));
const other = sealedAtRest('o'.repeat(32));

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
    const checkpoints = sealedCheckpoints(memory, own);
    await checkpoints.put(put);
    expect(kept()).not.toContain(SECRET);
    expect((await checkpoints.get('t', '', 'c'))?.checkpoint).toEqual(put.checkpoint);
  });

  it.each([
    ['another key', other],
    ['no key', PLAIN],
  ])('that was encrypted cannot be read with %s, and the error says so', async (_, atRest) => {
    await sealedCheckpoints(memory, own).put(put);
    const reader = sealedCheckpoints(memory, atRest);
    const refused = { reason: 'unreadable', message: expect.stringContaining('LANGGRAPH_AES_KEY') };
    await expect(reader.get('t', '', 'c')).rejects.toMatchObject(refused);
    await expect(reader.list({ threadId: 't' } as never)).rejects.toMatchObject(refused);
  });

  it('stays unencrypted without a key, and can be read after there is one', async () => {
    await sealedCheckpoints(memory, PLAIN).put(put);
    expect(kept()).toBe(SECRET);
    expect((await sealedCheckpoints(memory, own).get('t', '', 'c'))?.checkpoint).toEqual(put.checkpoint);
  });
});
