import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CheckpointBackend, PostgresCheckpoints } from '../src/index.ts';
import { type DeploymentDatabase, openCheckpoints, openDeploymentDatabase, takeOver } from './deployment-database.ts';
import { samplePut, valuesOf } from './sample-checkpoints.ts';

let database: DeploymentDatabase;
let checkpoints: PostgresCheckpoints;

beforeAll(async () => {
  database = await openDeploymentDatabase();
  checkpoints = openCheckpoints(database.pool);
});
afterAll(() => database.close());

async function newRun(): Promise<{ threadId: string; run: CheckpointBackend }> {
  const fence = await takeOver(database.pool);
  return { threadId: fence.threadId, run: checkpoints.forRun(fence) };
}

const read = async (key: { threadId: string; checkpointId: string }) =>
  valuesOf(await checkpoints.readOnly().get(key.threadId, '', key.checkpointId));

it('two forks of one checkpoint keep their own values under the same versions', async () => {
  const { threadId, run } = await newRun();
  const base = samplePut({ threadId, changed: { a: [1, 'base'], b: [1, 'shared'] } });
  const left = samplePut({ threadId, parent: base.key, changed: { a: [2, 'left'] }, unchanged: { b: 1 } });
  const right = samplePut({ threadId, parent: base.key, changed: { a: [2, 'right'] }, unchanged: { b: 1 } });
  const leftChild = samplePut({ threadId, parent: left.key, unchanged: { a: 2, b: 1 } });
  for (const put of [base, left, right, leftChild]) await run.put(put);
  expect(await read(base.key)).toEqual({ a: 'base', b: 'shared' });
  expect(await read(left.key)).toEqual({ a: 'left', b: 'shared' });
  expect(await read(right.key)).toEqual({ a: 'right', b: 'shared' });
  expect(await read(leftChild.key)).toEqual({ a: 'left', b: 'shared' });
});

it('an unchanged value is stored once, however long the thread is', async () => {
  const { threadId, run } = await newRun();
  let last = samplePut({ threadId, changed: { big: [1, 'x'.repeat(1000)], step: [1, 1] } });
  await run.put(last);
  for (let step = 2; step <= 20; step += 1) {
    last = samplePut({ threadId, parent: last.key, changed: { step: [step, step] }, unchanged: { big: 1 } });
    await run.put(last);
  }
  const { rows } = await database.pool.query(
    `SELECT channel, count(*)::int FROM checkpoint_blob WHERE thread_id = $1 GROUP BY channel ORDER BY channel`,
    [threadId],
  );
  expect(rows).toEqual([
    { channel: 'big', count: 1 },
    { channel: 'step', count: 20 },
  ]);
  expect(await read(last.key)).toEqual({ big: 'x'.repeat(1000), step: 20 });
});

it('a chain of checkpoints in one flush inherits along the chain', async () => {
  const { threadId, run } = await newRun();
  const first = samplePut({ threadId, changed: { a: [1, 'a'], b: [1, 'b'] } });
  const second = samplePut({ threadId, parent: first.key, changed: { b: [2, 'b2'] }, unchanged: { a: 1 } });
  const third = samplePut({ threadId, parent: second.key, unchanged: { a: 1, b: 2 } });
  await Promise.all([first, second, third].map((put) => run.put(put)));
  expect(await read(third.key)).toEqual({ a: 'a', b: 'b2' });
});

it('a new owner inherits from a parent that it has not read, even from several parents in one flush', async () => {
  const { threadId, run } = await newRun();
  const bases = ['left', 'right'].map((value) => samplePut({ threadId, changed: { a: [1, value] } }));
  for (const base of bases) await run.put(base);
  const heir = checkpoints.forRun(await takeOver(database.pool, { threadId }));
  const children = bases.map(({ key }) => samplePut({ threadId, parent: key, unchanged: { a: 1 } }));
  await Promise.all(children.map((put) => heir.put(put)));
  expect(await Promise.all(children.map(({ key }) => read(key)))).toEqual([{ a: 'left' }, { a: 'right' }]);
});

it('a channel that became empty has no value from then on', async () => {
  const { threadId, run } = await newRun();
  const first = samplePut({ threadId, changed: { a: [1, 'a'], b: [1, 'b'] } });
  const emptied = samplePut({ threadId, parent: first.key, changed: { a: [2, undefined] }, unchanged: { b: 1 } });
  const later = samplePut({ threadId, parent: emptied.key, unchanged: { a: 2, b: 1 } });
  for (const put of [first, emptied, later]) await run.put(put);
  expect(await read(emptied.key)).toEqual({ b: 'b' });
  expect(await read(later.key)).toEqual({ b: 'b' });
});

it("a value of another version than the parent's is never inherited", async () => {
  const { threadId, run } = await newRun();
  const parent = samplePut({ threadId, changed: { a: [1, 'old'] } });
  const child = samplePut({ threadId, parent: parent.key, unchanged: { a: 2 } });
  await run.put(parent);
  await run.put(child);
  expect(await read(child.key)).toEqual({});
});

it('a list leaves out the values that nobody needs, and reads no blob of them', async () => {
  const { threadId, run } = await newRun();
  const first = samplePut({ threadId, changed: { big: [1, 'big'], small: [1, 'a'] } });
  const second = samplePut({ threadId, parent: first.key, changed: { small: [2, 'b'] }, unchanged: { big: 1 } });
  await run.put(first);
  await run.put(second);
  await database.pool.query(`DELETE FROM checkpoint_blob WHERE thread_id = $1 AND channel = 'big'`, [threadId]);
  const reader = checkpoints.readOnly();
  const listed = await reader.list({ threadId, withoutValuesOf: ['big', 'never'] });
  expect(listed.map(valuesOf)).toEqual([{ small: 'b' }, { small: 'a' }]);
  await expect(reader.list({ threadId })).rejects.toMatchObject({ reason: 'unreadable' });
});

it('a checkpoint that is put again replaces itself', async () => {
  const { threadId, run } = await newRun();
  const first = samplePut({ threadId, changed: { a: [1, 'first'] }, metadata: { n: 1 } });
  const again = samplePut({ ...first.key, changed: { a: [1, 'again'] }, metadata: { n: 2 } });
  await run.put(first);
  await Promise.all([run.put(first), run.put(again)]);
  expect(await read(first.key)).toEqual({ a: 'again' });
  expect(await checkpoints.readOnly().list({ threadId, filter: { n: 2 } })).toHaveLength(1);
});

it.each([
  ['read', true],
  ['not read', false],
])(
  'a checkpoint keeps its values and its parent when an attempt that has %s it puts it as its child',
  async (_, reads) => {
    const fence = await takeOver(database.pool);
    const { threadId } = fence;
    const run = checkpoints.forRun(fence);
    const parent = samplePut({ threadId, changed: { a: [1, 'a'], b: [1, 'b'] } });
    const stopped = samplePut({ threadId, parent: parent.key, changed: { b: [2, 'b2'] }, unchanged: { a: 1 } });
    for (const put of [parent, stopped]) await run.put(put);
    const next = checkpoints.forRun(await takeOver(database.pool, fence));
    if (reads) await next.get(threadId, '');
    // Durability exit does so where an attempt gets no step further.
    await next.put(samplePut({ ...stopped.key, parent: stopped.key, unchanged: { a: 1, b: 2 } }));
    expect(await read(stopped.key)).toEqual({ a: 'a', b: 'b2' });
    const stored = await checkpoints.readOnly().get(threadId, '');
    expect(stored?.parentCheckpointId).toBe(parent.key.checkpointId);
  },
);

it('a checkpoint that is put twice in one flush has the values of both', async () => {
  const { threadId, run } = await newRun();
  const parent = samplePut({ threadId, changed: { a: [1, 'a'], b: [1, 'b'] } });
  const once = samplePut({ threadId, parent: parent.key, changed: { b: [2, 'b2'] }, unchanged: { a: 1 } });
  const again = samplePut({ ...once.key, parent: once.key, changed: { c: [1, 'c'] }, unchanged: { a: 1, b: 2 } });
  await Promise.all([parent, once, again].map((put) => run.put(put)));
  expect(await read(once.key)).toEqual({ a: 'a', b: 'b2', c: 'c' });
  const stored = await checkpoints.readOnly().get(threadId, '');
  expect(stored?.parentCheckpointId).toBe(parent.key.checkpointId);
});

it('bytes are read as they were written, even none and many', async () => {
  const { threadId, run } = await newRun();
  const values = [new Uint8Array(0), new Uint8Array(3_000_000).map((_, index) => index % 251)];
  const put = samplePut({ threadId });
  await run.put({
    ...put,
    channelVersions: { none: '1', many: '1' },
    blobs: ['none', 'many'].map((channel, index) => ({
      channel,
      version: '1',
      value: { type: 'bytes', data: values[index] as Uint8Array },
    })),
  });
  const stored = await checkpoints.readOnly().get(threadId, '');
  const byChannel = new Map(stored?.channelValues.map(({ channel, value }) => [channel, value]));
  expect(byChannel.get('none')?.data.byteLength).toBe(0);
  expect(Buffer.compare(Buffer.from(byChannel.get('many')?.data ?? []), Buffer.from(values[1] ?? []))).toBe(0);
});

it('a value that is missing in the database is an error that names its channel, and no empty channel', async () => {
  const { threadId, run } = await newRun();
  const put = samplePut({ threadId, changed: { messages: [1, ['hi']], step: [1, 1] } });
  await run.put(put);
  await database.pool.query(`DELETE FROM checkpoint_blob WHERE thread_id = $1 AND channel = 'messages'`, [threadId]);
  const error = { reason: 'unreadable', message: 'The value of channel "messages" is missing in the database.' };
  await expect(read(put.key)).rejects.toMatchObject(error);
  await expect(run.list({ threadId })).rejects.toMatchObject(error);
});
