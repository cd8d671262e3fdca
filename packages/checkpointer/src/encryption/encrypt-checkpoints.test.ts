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
  metadataJson: unknown;
  put = async ({ key, checkpoint, metadata, metadataJson }: CheckpointPut) => {
    this.stored = { key, checkpoint, metadata, channelValues: [], pendingWrites: [] };
    this.metadataJson = metadataJson;
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
  metadata: { type: 'json', data: Buffer.from(JSON.stringify({ step: 1, secret: SECRET })) },
  metadataJson: { step: 1, secret: SECRET },
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

  it('has chosen keys of its metadata encrypted, and nobody searches by them', async () => {
    const keyed = encryptCheckpoints(memory, createDataCipher('k'.repeat(32), 'secret'));
    await keyed.put(put);
    const metadata = Buffer.from(memory.stored!.metadata.data).toString();
    for (const stored of [metadata, JSON.stringify(memory.metadataJson)]) {
      expect(stored).toContain('"step":1');
      expect(stored).not.toContain('kettle');
    }
    // The list of keys decides about new values only.
    for (const reader of [keyed, encryptCheckpoints(memory, own)]) {
      expect((await reader.get('t', '', 'c'))?.metadata).toEqual(put.metadata);
    }
    const search = keyed.list({ threadId: 't', filter: { secret: SECRET } });
    await expect(search).rejects.toMatchObject({ reason: 'invalid', message: expect.stringContaining('"secret"') });
  });

  it('has what its step wrote encrypted in its metadata whichever keys are chosen', async () => {
    const metadata = { step: 1, writes: { node: { said: SECRET } } };
    const written = { ...put, metadata: { type: 'json', data: Buffer.from(JSON.stringify(metadata)) } };
    const checkpoints = encryptCheckpoints(memory, own);
    await checkpoints.put({ ...written, metadataJson: metadata });
    const stored = Buffer.from(memory.stored!.metadata.data).toString() + JSON.stringify(memory.metadataJson);
    expect(stored).not.toContain(SECRET);
    expect((await checkpoints.get('t', '', 'c'))?.metadata).toEqual(written.metadata);
  });

  it('has metadata of a serializer that packs them encrypted whole when keys are chosen', async () => {
    const keyed = encryptCheckpoints(memory, createDataCipher('k'.repeat(32), 'secret'));
    const packed = { ...put, metadata: { type: 'packed', data: Buffer.from(SECRET) } };
    await keyed.put(packed);
    expect(Buffer.from(memory.stored!.metadata.data).toString('latin1')).not.toContain(SECRET);
    expect((await keyed.get('t', '', 'c'))?.metadata).toEqual(packed.metadata);
  });

  it('stays unencrypted without a key, and can be read after there is one', async () => {
    await encryptCheckpoints(memory, NO_ENCRYPTION).put(put);
    expect(kept()).toBe(SECRET);
    expect((await encryptCheckpoints(memory, own).get('t', '', 'c'))?.checkpoint).toEqual(put.checkpoint);
  });
});
