import * as checkpointModule from '@langchain/langgraph-checkpoint';
import { emptyCheckpoint, MemorySaver, type SerializerProtocol, uuid6 } from '@langchain/langgraph-checkpoint';
import { describe, expect, it } from 'vitest';
import type { CheckpointBackend, CheckpointPut, CheckpointQuery, StoredCheckpoint } from '../backend.ts';
import { metadataJsonOf } from '../metadata-json.ts';
import { createSaver } from './create-saver.ts';

const THREAD = '11111111-1111-4111-8111-111111111111';
const METADATA = { source: 'loop', step: 1, parents: {} } as const;
const config = (checkpointId?: string) => ({
  configurable: { thread_id: THREAD, checkpoint_ns: '', checkpoint_id: checkpointId },
});

/** Records what reaches it, and answers reads with what the test sets. */
class RecordingBackend implements CheckpointBackend {
  readonly calls: string[] = [];
  readonly puts: CheckpointPut[] = [];
  readonly queries: CheckpointQuery[] = [];
  stored: StoredCheckpoint | undefined;

  async get() {
    return this.stored;
  }
  async list(query: CheckpointQuery) {
    this.queries.push(query);
    return this.stored && !query.after ? [this.stored] : [];
  }
  async put(put: CheckpointPut) {
    this.calls.push(`put ${put.key.checkpointId}`);
    this.puts.push(put);
  }
  async putWrites({ taskId }: { taskId: string }) {
    this.calls.push(`writes ${taskId}`);
  }
  async deleteThread(threadId: string) {
    this.calls.push(`delete ${threadId}`);
  }
}

async function storedCheckpoint(): Promise<StoredCheckpoint> {
  const [type, data] = await new MemorySaver().serde.dumpsTyped(checkpoint({}, { a: 1 }));
  return {
    key: { threadId: THREAD, namespace: '', checkpointId: 'c' },
    checkpoint: { type, data },
    metadata: { type: 'json', data: Buffer.from('{}') },
    channelValues: [],
    pendingWrites: [],
  };
}

/** A serializer that finishes a value when the test says so. */
class SlowSerializer implements SerializerProtocol {
  readonly #serde = new MemorySaver().serde;
  readonly #held = new Map<unknown, () => void>();

  async dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
    const result = this.#serde.dumpsTyped(value);
    if (value === 'slow') await new Promise<void>((resolve) => this.#held.set(value, resolve));
    if (value === 'broken') throw new Error('cannot be serialized');
    return result;
  }
  loadsTyped(type: string, data: Uint8Array | string) {
    return this.#serde.loadsTyped(type, data);
  }
  finish(value: string) {
    this.#held.get(value)?.();
  }
}

function checkpoint(values: Record<string, unknown>, versions: Record<string, number>) {
  return { ...emptyCheckpoint(), id: uuid6(0), channel_values: values, channel_versions: versions };
}

describe('the saver', () => {
  it('sends a checkpoint after writes that take longer to serialize', async () => {
    const backend = new RecordingBackend();
    const serde = new SlowSerializer();
    const saver = createSaver(checkpointModule, backend, { serde });
    const next = checkpoint({}, {});
    const calls = [
      saver.putWrites(config('parent'), [['a', 'slow']], 'task'),
      saver.put(config('parent'), next, METADATA, {}),
      saver.deleteThread(THREAD),
    ];
    await new Promise((resolve) => setImmediate(resolve));
    expect(backend.calls).toEqual([]);
    serde.finish('slow');
    await Promise.all(calls);
    expect(backend.calls).toEqual(['writes task', `put ${next.id}`, `delete ${THREAD}`]);
  });

  it('refuses a value that cannot be serialized, and everything called after it', async () => {
    const backend = new RecordingBackend();
    const saver = createSaver(checkpointModule, backend, { serde: new SlowSerializer() });
    const results = await Promise.allSettled([
      saver.putWrites(config('parent'), [['a', 'fine']], 'before'),
      saver.putWrites(config('parent'), [['a', 'broken']], 'broken'),
      saver.put(config('parent'), checkpoint({}, {}), METADATA, {}),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await expect(saver.putWrites(config('parent'), [['a', 'fine']], 'later')).rejects.toThrow('cannot be serialized');
    expect(backend.calls).toEqual(['writes before']);
  });
});

describe('a put', () => {
  it('sends the values of changed channels only', async () => {
    const backend = new RecordingBackend();
    const saver = createSaver(checkpointModule, backend);
    const first = checkpoint({ a: 1, b: 2 }, { a: 1, b: 1 });
    const second = checkpoint({ a: 3, b: 2 }, { a: 2, b: 1 });
    await saver.put(config(), first, METADATA, { a: 1, b: 1 });
    await saver.put(config(first.id), second, METADATA, { a: 2 });
    expect(backend.puts.map(({ blobs }) => blobs.map(({ channel }) => channel))).toEqual([['a', 'b'], ['a']]);
    expect(backend.puts[1]).toMatchObject({
      parentCheckpointId: first.id,
      channelVersions: { a: '2', b: '1' },
    });
    expect(metadataJsonOf(backend.puts[1]!)).toEqual(METADATA);
    const { data } = backend.puts[1]?.checkpoint ?? {};
    expect(JSON.parse(Buffer.from(data ?? []).toString()).channel_values).toEqual({});
  });

  it('reports a changed channel without a value as empty', async () => {
    const backend = new RecordingBackend();
    await createSaver(checkpointModule, backend).put(config(), checkpoint({}, { a: 2 }), METADATA, { a: 2 });
    expect(backend.puts[0]?.blobs).toEqual([{ channel: 'a', version: '2' }]);
  });

  it("sends everything when it does not know the parent's versions, or they differ", async () => {
    const backend = new RecordingBackend();
    const saver = createSaver(checkpointModule, backend);
    await saver.put(config('never-seen'), checkpoint({ a: 1, b: 2 }, { a: 5, b: 1 }), METADATA, { b: 1 });
    expect(backend.puts[0]?.blobs.map(({ channel }) => channel)).toEqual(['b', 'a']);
    const parent = checkpoint({ a: 1 }, { a: 4 });
    await saver.put(config(), parent, METADATA, { a: 4 });
    await saver.put(config(parent.id), checkpoint({ a: 2 }, { a: 5 }), { ...METADATA, source: 'fork' }, {});
    expect(backend.puts[2]?.blobs.map(({ channel }) => channel)).toEqual(['a']);
  });

  it('sends everything of a copy without a parent', async () => {
    const backend = new RecordingBackend();
    const saver = createSaver(checkpointModule, backend);
    await saver.put(config(), checkpoint({ a: 1 }, { a: 1 }), { ...METADATA, source: 'fork' }, {});
    expect(backend.puts[0]?.blobs.map(({ channel }) => channel)).toEqual(['a']);
  });

  it('sends values as they are at the call, whatever the graph does with them afterwards', async () => {
    const backend = new RecordingBackend();
    const saver = createSaver(checkpointModule, backend);
    const list = [1];
    const made = checkpoint({ list }, { list: 1 });
    const stored = saver.put(config(), made, METADATA, { list: 1 });
    list.push(2);
    await stored;
    expect(Buffer.from(backend.puts[0]?.blobs[0]?.value?.data ?? []).toString()).toBe('[1]');
  });

  it('makes searchable metadata even when the serializer hides it', async () => {
    const backend = new RecordingBackend();
    const hiding: SerializerProtocol = {
      dumpsTyped: async () => ['sealed', new Uint8Array([1])],
      loadsTyped: async () => undefined,
    };
    const metadata = { ...METADATA, count: 10n };
    await createSaver(checkpointModule, backend, { serde: hiding }).put(config(), checkpoint({}, {}), metadata, {});
    expect(backend.puts[0]).toMatchObject({ metadata: { type: 'sealed' }, metadataJson: { step: 1, count: '10' } });
  });

  it('makes the rest searchable of large metadata with a value that has no JSON form', async () => {
    const backend = new RecordingBackend();
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const metadata = { ...METADATA, writes: { node: 'x'.repeat(1024 * 1024) }, circle };
    await createSaver(checkpointModule, backend).put(config(), checkpoint({}, {}), metadata, {});
    expect(backend.puts[0]?.metadataJson).toEqual(METADATA);
  });

  it('makes metadata searchable of which the serializer writes only that it cannot write them', async () => {
    const backend = new RecordingBackend();
    const metadata = { ...METADATA, count: 10n };
    await createSaver(checkpointModule, backend).put(config(), checkpoint({}, {}), metadata, {});
    expect(metadataJsonOf(backend.puts[0]!)).toEqual({ ...METADATA, count: '10' });
  });

  it('leaves what a large update wrote out of what is searched, and stores it whole', async () => {
    const backend = new RecordingBackend();
    const metadata = { ...METADATA, writes: { node: 'x'.repeat(1024 * 1024) } };
    await createSaver(checkpointModule, backend).put(config(), checkpoint({}, {}), metadata, {});
    const [put] = backend.puts;
    expect(put?.metadataJson).toEqual(METADATA);
    expect(JSON.parse(Buffer.from(put?.metadata.data ?? []).toString())).toEqual(metadata);
  });
});

it('a listing of all threads whose limit is null is one without a limit, and goes on until a page is empty', async () => {
  const backend = new RecordingBackend();
  backend.stored = await storedCheckpoint();
  const none = null as unknown as undefined;
  const saver = createSaver(checkpointModule, backend);
  const found = [];
  for await (const tuple of saver.list({ configurable: { thread_id: none } }, { limit: none })) found.push(tuple);
  expect(found).toHaveLength(1);
  expect(backend.queries).toEqual([
    expect.objectContaining({ threadId: undefined, after: undefined, limit: 50 }),
    expect.objectContaining({ threadId: undefined, after: backend.stored.key, limit: 50 }),
  ]);
});

it('a listing with a limit goes on after a page that ends before it', async () => {
  const backend = new RecordingBackend();
  backend.stored = await storedCheckpoint();
  const saver = createSaver(checkpointModule, backend);
  for await (const _ of saver.list(config(), { limit: 5 }));
  expect(backend.queries.map(({ after, limit }) => [after?.checkpointId, limit])).toEqual([
    [undefined, 5],
    ['c', 4],
  ]);
});

it('the JSON of a saver is its name, not its content', () => {
  expect(JSON.stringify({ saver: createSaver(checkpointModule, new RecordingBackend()) })).toBe(
    '{"saver":"[RunyardSaver]"}',
  );
});

it('raw bytes arrive as a copy', async () => {
  const backend = new RecordingBackend();
  const read = Buffer.from([9, 1, 2, 9]).subarray(1, 3);
  backend.stored = {
    ...(await storedCheckpoint()),
    channelValues: [{ channel: 'a', value: { type: 'bytes', data: read } }],
  };
  const tuple = await createSaver(checkpointModule, backend).getTuple(config());
  const value = tuple?.checkpoint.channel_values.a as Uint8Array;
  expect(value).toEqual(new Uint8Array([1, 2]));
  expect(value.buffer.byteLength).toBe(2);
});
