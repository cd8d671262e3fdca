import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FIRST_SLICE } from '../src/threads/remove-orphans.ts';
import { aRun, type EngineFixture, openEngine, success } from './engine-fixture.ts';

let fixture: EngineFixture;
let worker: string;
beforeAll(async () => {
  fixture = await openEngine({ threadTtl: { strategy: 'keep_latest', minutes: 10 } });
  worker = await fixture.worker();
});
afterAll(() => fixture.close());

const TABLES = ['checkpoint', 'checkpoint_blob', 'checkpoint_write'] as const;

interface Stored {
  id: string;
  parent?: string;
  namespace?: string;
  /** Channel to [version, writer]. A value that this checkpoint itself writes gets a blob. */
  channels?: Record<string, [string, string]>;
  metadata?: Record<string, unknown>;
  writes?: string[];
}

/** Stores a checkpoint as the checkpointer does. */
async function store(
  threadId: string,
  { id, parent, namespace = '', channels = {}, metadata = {}, writes = [] }: Stored,
) {
  const stored = JSON.stringify({ thread_id: threadId, ...metadata });
  await fixture.pool.query(
    `INSERT INTO checkpoint (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, run_id, data_type, data, metadata,
                             metadata_type, metadata_data, channel_blobs)
     VALUES ($1, $2, $3, $4, $5, 'json', '{}', $6, 'json', $7, $8)`,
    [threadId, namespace, id, parent ?? null, randomUUID(), stored, Buffer.from(stored), JSON.stringify(channels)],
  );
  for (const [channel, [version, writer]] of Object.entries(channels)) {
    if (writer !== id) continue;
    await fixture.pool.query(
      `INSERT INTO checkpoint_blob (thread_id, checkpoint_ns, channel, version, checkpoint_id, type, data)
       VALUES ($1, $2, $3, $4, $5, 'json', '[1,2]')`,
      [threadId, namespace, channel, version, writer],
    );
  }
  for (const [idx, channel] of writes.entries()) {
    await fixture.pool.query(
      `INSERT INTO checkpoint_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, data)
       VALUES ($1, $2, $3, 'task', $4, $5, 'json', '"written"')`,
      [threadId, namespace, id, idx, channel],
    );
  }
}

const idsOf = async (threadId: string, namespace = '') =>
  (
    await fixture.rows(
      'SELECT checkpoint_id AS id FROM checkpoint WHERE thread_id = $1 AND checkpoint_ns = $2 ORDER BY checkpoint_id',
      [threadId, namespace],
    )
  ).map(({ id }) => id);

const expiryOf = async (threadId: string) => {
  const [row] = await fixture.rows(
    `SELECT ttl_strategy, extract(epoch FROM expires_at - now())::float8 / 60 AS minutes FROM thread WHERE thread_id = $1`,
    [threadId],
  );
  return row as { ttl_strategy: string | null; minutes: number | null } | undefined;
};

const lapse = (threadId: string) =>
  fixture.pool.query(`UPDATE thread SET expires_at = now() - interval '1 second' WHERE thread_id = $1`, [threadId]);

describe('the ttl of a thread', () => {
  it('is the one it is created with, or the default of the deployment', async () => {
    const own = randomUUID();
    await fixture.engine.createThread({
      threadId: own,
      metadata: {},
      ifExists: 'raise',
      ttl: { strategy: 'delete', minutes: 1.5 },
    });
    expect(await expiryOf(own)).toEqual({ ttl_strategy: 'delete', minutes: expect.closeTo(1.5, 1) });
    expect(await expiryOf(await fixture.thread())).toMatchObject({ ttl_strategy: 'keep_latest' });
  });

  it('is the default for threads that runs create', async () => {
    const threadId = randomUUID();
    const { run: ofThread } = await fixture.engine.createRun(aRun({ threadId, ifThreadMissing: 'create' }));
    const { run: stateless } = await fixture.engine.createRun(aRun({ keepsThread: true }));
    for (const { threadId: id } of [ofThread, stateless]) {
      expect(await expiryOf(id)).toEqual({ ttl_strategy: 'keep_latest', minutes: expect.closeTo(10, 0) });
    }
    for (const run of await fixture.engine.claimRuns(worker, 10)) await fixture.engine.finishRun(success(run));
  });

  it('restarts after every run when it prunes, and never when it deletes', async () => {
    const pruned = await fixture.thread();
    const deleted = randomUUID();
    const ttl = { strategy: 'delete', minutes: 5 } as const;
    await fixture.engine.createThread({ threadId: deleted, metadata: {}, ifExists: 'raise', ttl });
    await fixture.pool.query('UPDATE thread SET expires_at = NULL WHERE thread_id = ANY($1)', [[pruned, deleted]]);
    for (const threadId of [pruned, deleted]) {
      await fixture.engine.createRun(aRun({ threadId }));
      const [run] = await fixture.engine.claimRuns(worker, 1);
      await fixture.engine.finishRun(success(run!));
    }
    expect((await expiryOf(pruned))?.minutes).toBeCloseTo(10, 0);
    expect((await expiryOf(deleted))?.minutes).toBeNull();
  });
});

describe('expiry', () => {
  it('deletes, or keeps the newest state until it changes again, and skips busy threads', async () => {
    const [deleted, pruned, busy] = [randomUUID(), await fixture.thread(), await fixture.thread()];
    const ttl = { strategy: 'delete', minutes: 5 } as const;
    await fixture.engine.createThread({ threadId: deleted, metadata: {}, ifExists: 'raise', ttl });
    for (const threadId of [deleted, pruned, busy]) {
      await store(threadId, { id: 'c1', channels: { a: ['1', 'c1'] }, writes: ['a'] });
      await store(threadId, { id: 'c2', parent: 'c1', channels: { a: ['2', 'c2'] } });
      await lapse(threadId);
    }
    await fixture.engine.createRun(aRun({ threadId: busy }));
    await lapse(busy);
    const expired = await fixture.engine.histories.expire(100);
    expect(expired).toMatchObject({ deleted: [{ threadId: deleted }], prunedIds: [pruned] });
    expect(await idsOf(pruned)).toEqual(['c2']);
    expect(await idsOf(busy)).toEqual(['c1', 'c2']);
    expect(await expiryOf(deleted)).toBeUndefined();
    expect((await expiryOf(pruned))?.minutes).toBeNull();
    for (const table of [...TABLES, 'thread_fence', 'run']) {
      expect(await fixture.rows(`SELECT 1 FROM ${table} WHERE thread_id = $1`, [deleted])).toEqual([]);
    }
    expect(await fixture.engine.histories.expire(100)).toEqual({ deleted: [], prunedIds: [], mayHaveMore: false });
    const [run] = await fixture.engine.claimRuns(worker, 1);
    await fixture.engine.finishRun(success(run!));
  });
});

describe('keeping the latest state', () => {
  it('keeps what the newest checkpoint needs, and nothing else', async () => {
    const threadId = await fixture.thread();
    await store(threadId, { id: 'c1', channels: { a: ['1', 'c1'], old: ['1', 'c1'] }, writes: ['a'] });
    await store(threadId, { id: 'c2', parent: 'c1', channels: { a: ['1', 'c1'], old: ['2', 'c2'] }, writes: ['b'] });
    await store(threadId, { id: 'c3', parent: 'c2', channels: { a: ['1', 'c1'] }, writes: ['__interrupt__'] });
    expect(await fixture.engine.histories.prune([threadId, randomUUID()], 'keep_latest')).toEqual({
      deleted: [],
      prunedIds: [threadId],
    });
    expect(await idsOf(threadId)).toEqual(['c3']);
    expect(
      await fixture.rows('SELECT channel, checkpoint_id FROM checkpoint_blob WHERE thread_id = $1', [threadId]),
    ).toEqual([{ channel: 'a', checkpoint_id: 'c1' }]);
    expect(await fixture.rows('SELECT channel FROM checkpoint_write WHERE thread_id = $1', [threadId])).toEqual([
      { channel: '__interrupt__' },
    ]);
    expect(await fixture.rows('SELECT parent_checkpoint_id FROM checkpoint WHERE thread_id = $1', [threadId])).toEqual([
      { parent_checkpoint_id: null },
    ]);
  });

  it('keeps subgraphs that wait under the newest checkpoint or have their own memory', async () => {
    const threadId = await fixture.thread();
    await store(threadId, { id: 'c1' });
    await store(threadId, { id: 'c2', parent: 'c1' });
    await store(threadId, { id: 's1', namespace: 'child:1', metadata: { parents: { '': 'c1' } } });
    await store(threadId, { id: 's2', namespace: 'child:2', metadata: { parents: { '': 'c2' } } });
    await store(threadId, { id: 's3', namespace: 'child:2', parent: 's2', metadata: { parents: { '': 'c2' } } });
    await store(threadId, { id: 'm1', namespace: 'memory', metadata: { parents: { '': 'c1' } } });
    await fixture.engine.histories.prune([threadId], 'keep_latest');
    expect(await idsOf(threadId, 'child:1')).toEqual([]);
    expect(await idsOf(threadId, 'child:2')).toEqual(['s3']);
    expect(await idsOf(threadId, 'memory')).toEqual(['m1']);
  });

  it('keeps the ancestors of channels that are stored as changes, back to the last whole value', async () => {
    const threadId = await fixture.thread();
    const counting = (n: number) => ({ metadata: { counters_since_delta_snapshot: { log: [n, n] } } });
    await store(threadId, { id: 'c1', channels: { log: ['1', 'c1'] }, writes: ['log'] });
    await store(threadId, { id: 'c2', parent: 'c1', channels: { log: ['2', 'c2'] }, writes: ['log'] });
    await store(threadId, { id: 'c3', parent: 'c2', writes: ['log'], ...counting(1) });
    await store(threadId, { id: 'c4', parent: 'c3', ...counting(2) });
    await fixture.engine.histories.prune([threadId], 'keep_latest');
    expect(await idsOf(threadId)).toEqual(['c2', 'c3', 'c4']);
    expect(
      await fixture.rows(
        'SELECT checkpoint_id, parent_checkpoint_id AS parent FROM checkpoint WHERE thread_id = $1 ORDER BY 1',
        [threadId],
      ),
    ).toEqual([
      { checkpoint_id: 'c2', parent: null },
      { checkpoint_id: 'c3', parent: 'c2' },
      { checkpoint_id: 'c4', parent: 'c3' },
    ]);
  });

  it('takes the fence from a state update in flight', async () => {
    const threadId = await fixture.thread();
    const fence = await fixture.engine.beginStateUpdate(threadId);
    await fixture.engine.histories.prune([threadId], 'keep_latest');
    const update = { fence, values: null, interrupts: null, checkpointId: 'c', status: 'idle' as const };
    await expect(fixture.engine.commitStateUpdate(update)).rejects.toMatchObject({ name: 'FencedError' });
  });
});

it('pruning skips busy threads and does not count them', async () => {
  const [busy, idle] = [await fixture.thread(), await fixture.thread()];
  await fixture.engine.createRun(aRun({ threadId: busy }));
  expect(await fixture.engine.histories.prune([busy, idle, idle], 'delete')).toMatchObject({
    deleted: [{ threadId: idle }],
    prunedIds: [],
  });
  expect(await expiryOf(busy)).toBeDefined();
  const [run] = await fixture.engine.claimRuns(worker, 1);
  await fixture.engine.finishRun(success(run!));
});

describe('a copy', () => {
  it('has the whole history under its own id, the status of its source, and no runs', async () => {
    const sourceId = await fixture.thread();
    await store(sourceId, { id: 'c1', channels: { a: ['1', 'c1'] }, writes: ['a'] });
    await store(sourceId, { id: 'c2', parent: 'c1', channels: { a: ['1', 'c1'] }, metadata: { note: sourceId } });
    await fixture.pool.query(
      `UPDATE thread SET status = 'error', error = '{"error": "Boom"}', metadata = '{"a": 1}' WHERE thread_id = $1`,
      [sourceId],
    );
    const threadId = randomUUID();
    expect(await fixture.engine.histories.copy({ sourceId, threadId, metadata: { b: 2 } })).toEqual({
      isStateOutdated: true,
      isOfBusy: false,
    });
    const [thread] = await fixture.rows('SELECT status, metadata, error FROM thread WHERE thread_id = $1', [threadId]);
    expect(thread).toEqual({ status: 'error', metadata: { a: 1, b: 2 }, error: { error: 'Boom' } });
    expect(await idsOf(threadId)).toEqual(['c1', 'c2']);
    for (const table of TABLES) {
      const count = `SELECT count(*)::int AS n FROM ${table} WHERE thread_id = $1`;
      expect(await fixture.rows(count, [threadId])).toEqual(await fixture.rows(count, [sourceId]));
    }
    const [copied] = await fixture.rows(
      `SELECT run_id, metadata, convert_from(metadata_data, 'UTF8') AS text FROM checkpoint
       WHERE thread_id = $1 AND checkpoint_id = 'c2'`,
      [threadId],
    );
    expect(copied).toMatchObject({ run_id: null, metadata: { thread_id: threadId, note: sourceId } });
    expect(JSON.parse(copied!.text as string)).toEqual({ thread_id: threadId, note: sourceId });
    await fixture.engine.histories.prune([sourceId], 'delete');
    expect(await idsOf(threadId)).toEqual(['c1', 'c2']);
    expect(await fixture.engine.histories.copy({ sourceId, threadId: randomUUID(), metadata: {} })).toBeUndefined();
  });

  it('has the state of the source when that is up to date', async () => {
    const sourceId = await fixture.thread();
    await fixture.engine.createRun(aRun({ threadId: sourceId }));
    const [run] = await fixture.engine.claimRuns(worker, 1);
    await store(sourceId, { id: 'c1' });
    await fixture.engine.finishRun(success(run!, { checkpointId: 'c1' }));
    const threadId = randomUUID();
    expect(await fixture.engine.histories.copy({ sourceId, threadId, metadata: {} })).toEqual({
      isStateOutdated: false,
      isOfBusy: false,
    });
    expect(await fixture.rows('SELECT "values" FROM thread_state WHERE thread_id = $1', [threadId])).toEqual([
      { values: Buffer.from('{"done":true}') },
    ]);
  });
});

it.each([
  ['that asks nothing', null, 'idle'],
  ['that has a question which no run has passed', '{"t":[]}', 'interrupted'],
])('a copy of a busy thread %s has no status of its run', async (_, interrupts, status) => {
  const sourceId = await fixture.thread();
  await fixture.pool.query(
    `INSERT INTO thread_state (thread_id, interrupts) VALUES ($1, convert_to($2::text, 'UTF8'))
     ON CONFLICT (thread_id) DO UPDATE SET interrupts = excluded.interrupts`,
    [sourceId, interrupts],
  );
  await fixture.engine.createRun(aRun({ threadId: sourceId }));
  const threadId = randomUUID();
  expect(await fixture.engine.histories.copy({ sourceId, threadId, metadata: {} })).toMatchObject({ isOfBusy: true });
  expect(await fixture.rows('SELECT status FROM thread WHERE thread_id = $1', [threadId])).toEqual([{ status }]);
});

it('the storage of a thread counts its rows, without those of the platform', async () => {
  const threadId = await fixture.thread();
  await store(threadId, {
    id: 'c1',
    channels: { a: ['1', 'c1'], b: ['1', 'c1'] },
    writes: ['a', '__runyard_resume__'],
  });
  await store(threadId, { id: 'c2', parent: 'c1', channels: { a: ['2', 'c2'], b: ['1', 'c1'] } });
  expect(await fixture.engine.histories.measureStorage(threadId)).toEqual({
    checkpoints: { count: 2, bytes: 2 * (2 + JSON.stringify({ thread_id: threadId }).length) },
    channelValues: { count: 3, bytes: 15, byChannel: { a: { versions: 2, bytes: 10 }, b: { versions: 1, bytes: 5 } } },
    pendingWrites: { count: 1, bytes: 9 },
  });
  expect(await fixture.engine.histories.measureStorage(randomUUID())).toBeUndefined();
});

it('rows of deleted threads are found slice by slice and removed, and nothing else', async () => {
  const [kept, gone] = [await fixture.thread(), randomUUID()];
  const { run } = await fixture.engine.createRun(aRun({ keepsThread: false }));
  await fixture.pool.query('INSERT INTO thread_fence (thread_id) VALUES ($1)', [gone]);
  const fresh = randomUUID();
  await fixture.pool.query('INSERT INTO thread_fence VALUES ($1, extract(epoch FROM now()) * 1000)', [fresh]);
  for (const threadId of [kept, gone]) await store(threadId, { id: 'c1', channels: { a: ['1', 'c1'] }, writes: ['a'] });
  let slice = { ...FIRST_SLICE, size: 2 };
  let removed = 0;
  do {
    slice = await fixture.engine.histories.removeOrphans(slice);
    removed += slice.removed;
  } while (slice.afterThreadId !== FIRST_SLICE.afterThreadId);
  expect(removed).toBe(4);
  expect(await idsOf(kept)).toEqual(['c1']);
  expect(await idsOf(gone)).toEqual([]);
  const fences = await fixture.rows('SELECT thread_id FROM thread_fence WHERE thread_id = ANY($1)', [
    [kept, gone, fresh, run.threadId],
  ]);
  expect(fences).toHaveLength(3);
});
