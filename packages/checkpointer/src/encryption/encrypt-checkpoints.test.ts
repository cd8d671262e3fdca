import { createDataCipher, type DataCipher, EncryptionUnavailableError, NO_ENCRYPTION } from '@runyard/encryption';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CheckpointBackend, CheckpointPut, StoredCheckpoint, WritesPut } from '../backend.ts';
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
  readonly operations: string[] = [];
  put = async ({ key, checkpoint, metadata, metadataJson }: CheckpointPut) => {
    this.operations.push(`put ${key.checkpointId}`);
    this.stored = { key, checkpoint, metadata, channelValues: [], pendingWrites: [] };
    this.metadataJson = metadataJson;
  };
  putWrites = async ({ key }: WritesPut) => {
    this.operations.push(`writes of ${key.checkpointId}`);
  };
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

describe('with handlers of the project, a checkpoint', () => {
  /** Encrypts metadata when the test says so. */
  function handling() {
    const waits: { resolve(): void; reject(error: Error): void }[] = [];
    const json: DataCipher['json'] = {
      ...own.json,
      hasHandlers: true,
      encrypt: (metadata) =>
        new Promise((resolve, reject) => {
          waits.push({ resolve: () => resolve({ ...metadata, secret: 'encrypted' }), reject });
        }),
      findEncryptedKey: async () => 'secret',
      with: () => json,
    };
    return { checkpoints: encryptCheckpoints(memory, { ...own, json }), waits };
  }
  const putOf = (checkpointId: string) => ({ ...put, key: { ...put.key, checkpointId } });
  const writesOf = (checkpointId: string) =>
    ({ key: { ...put.key, checkpointId }, taskId: 't', taskPath: '', writes: [] }) as WritesPut;

  it('has them encrypt what is searched, and is read without them', async () => {
    const { checkpoints, waits } = handling();
    const putting = checkpoints.put(put);
    waits[0]!.resolve();
    await putting;
    expect(memory.metadataJson).toEqual({ step: 1, secret: 'encrypted' });
    expect(Buffer.from(memory.stored!.metadata.data).toString('latin1')).not.toContain('kettle');
    expect((await checkpoints.get('t', '', 'c'))?.metadata).toEqual(put.metadata);
    await expect(checkpoints.list({ filter: { secret: 1 } })).rejects.toMatchObject({ reason: 'invalid' });
  });

  it('is stored in its turn, however long they take', async () => {
    const { checkpoints, waits } = handling();
    const all = [checkpoints.put(putOf('1')), checkpoints.putWrites(writesOf('1')), checkpoints.put(putOf('2'))];
    waits[1]!.resolve();
    await new Promise(setImmediate);
    expect(memory.operations).toEqual([]);
    waits[0]!.resolve();
    await Promise.all(all);
    expect(memory.operations).toEqual(['put 1', 'writes of 1', 'put 2']);
  });

  it('that they did not encrypt is not stored, nor is what came after it', async () => {
    const { checkpoints, waits } = handling();
    const all = [checkpoints.put(putOf('1')), checkpoints.put(putOf('2')), checkpoints.putWrites(writesOf('2'))];
    waits[1]!.resolve();
    waits[0]!.reject(new EncryptionUnavailableError('away'));
    for (const { status, reason } of (await Promise.allSettled(all)) as PromiseRejectedResult[]) {
      expect({ status, reason }).toMatchObject({ status: 'rejected', reason: { reason: 'encryption_failed' } });
    }
    await expect(checkpoints.putWrites(writesOf('1'))).rejects.toMatchObject({ reason: 'encryption_failed' });
    expect(memory.operations).toEqual([]);
  });
});
