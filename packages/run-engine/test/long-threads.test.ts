import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClaimedRun } from '../src/runs/types.ts';
import { aRun, type EngineFixture, openEngine, success } from './engine-fixture.ts';

/** Rows of one step. A transaction has time for one: the database takes 20 ms for each of its rows. */
const STEP = 16;
const LONG = 40;
const TABLES = ['checkpoint', 'checkpoint_blob', 'checkpoint_write'];

let fixture: EngineFixture;
beforeEach(async () => {
  fixture = await openEngine();
  await fixture.rows(`CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_sleep(0.02); RETURN OLD; END $$`);
  await fixture.rows('CREATE TRIGGER slow BEFORE DELETE ON checkpoint FOR EACH ROW EXECUTE FUNCTION take_time()');
});
afterEach(() => fixture.close());

/** Writes checkpoints as a run does, each with a value and a write. */
async function writeMany(threadId: string, runId: string | null, prefix = 'c'): Promise<void> {
  const ids = `SELECT '${prefix}' || lpad(n::text, 3, '0') AS id FROM generate_series(1, ${LONG}) AS n`;
  await fixture.rows(
    `INSERT INTO checkpoint (thread_id, checkpoint_ns, checkpoint_id, run_id, data_type, data, metadata, metadata_type,
                             metadata_data, channel_blobs)
     SELECT $1, '', id, $2, 'json', '{}', '{}', 'json', '{}', jsonb_build_object('messages', jsonb_build_array(id, id))
     FROM (${ids}) AS made`,
    [threadId, runId],
  );
  await fixture.rows(
    `INSERT INTO checkpoint_blob (thread_id, checkpoint_ns, channel, version, checkpoint_id, type, data)
     SELECT $1, '', 'messages', id, id, 'json', '[]' FROM (${ids}) AS made`,
    [threadId],
  );
  await fixture.rows(
    `INSERT INTO checkpoint_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, run_id, channel, type, data)
     SELECT $1, '', id, 'task', 0, $2, 'messages', 'json', '[]' FROM (${ids}) AS made`,
    [threadId, runId],
  );
}

async function left(table: string, threadId: string): Promise<string[]> {
  const rows = await fixture.rows(
    `SELECT checkpoint_id FROM ${table} WHERE thread_id = $1 ORDER BY checkpoint_id DESC`,
    [threadId],
  );
  return rows.map((row) => row.checkpoint_id as string);
}

async function nothingIsLeft(threadId: string): Promise<void> {
  for (const table of TABLES) expect(await left(table, threadId)).toEqual([]);
}

describe('a long thread', () => {
  async function deleted(): Promise<string> {
    const threadId = await fixture.thread();
    await writeMany(threadId, null);
    await fixture.engine.deleteThread(threadId);
    return threadId;
  }

  it('that is deleted disappears at once, and its remaining rows are removed in parts, by any process', async () => {
    const threadId = await deleted();
    expect(await fixture.rows('SELECT 1 FROM thread')).toEqual([]);
    expect(await left('checkpoint', threadId)).toHaveLength(LONG - STEP);
    expect(await fixture.engine.removals.removeNext()).toBe(true);
    expect(await left('checkpoint', threadId)).toHaveLength(LONG - 2 * STEP);
    while (await fixture.engine.removals.removeNext());
    await nothingIsLeft(threadId);
    for (const table of ['thread_fence', 'thread_removal']) {
      expect(await fixture.rows(`SELECT 1 FROM ${table}`)).toEqual([]);
    }
  });

  it.each(['a thread', 'a run', 'a draft'])('that is deleted hides its rows from %s with its id', async (what) => {
    const threadId = await deleted();
    if (what === 'a thread') await fixture.engine.createThread({ threadId, metadata: {}, ifExists: 'raise' });
    else if (what === 'a run') await fixture.engine.createRun(aRun({ threadId, ifThreadMissing: 'create' }));
    else await fixture.engine.drafts.begin(threadId);
    await nothingIsLeft(threadId);
    expect(await fixture.engine.removals.removeNext()).toBe(false);
  });

  it('that is deleted takes nothing from a thread that an earlier release created with its id', async () => {
    const threadId = await deleted();
    for (const table of TABLES) await fixture.rows(`DELETE FROM ${table}`);
    await fixture.rows('INSERT INTO thread (thread_id) VALUES ($1)', [threadId]);
    await writeMany(threadId, null);
    while (await fixture.engine.removals.removeNext());
    expect(await left('checkpoint', threadId)).toHaveLength(LONG);
    expect(await fixture.rows('SELECT 1 FROM thread_removal')).toEqual([]);
  });

  it('is pruned to its newest state in parts', async () => {
    const threadId = await fixture.thread();
    await writeMany(threadId, null);
    expect(await fixture.engine.histories.prune([threadId], 'keep_latest')).toEqual({
      deleted: [],
      prunedIds: [threadId],
    });
    for (const table of TABLES) expect(await left(table, threadId)).toEqual([`c0${LONG}`]);
  });
});

describe('a long run that is rolled back', () => {
  async function running(): Promise<ClaimedRun> {
    const threadId = await fixture.thread();
    await fixture.engine.createRun(aRun({ threadId }));
    const [run] = await fixture.engine.claimRuns(await fixture.worker(), 1);
    await writeMany(threadId, null, 'before');
    await writeMany(threadId, run!.runId);
    return run!;
  }

  const order = (run: ClaimedRun) =>
    fixture.engine.requestCancel({ threadId: run.threadId, runIds: [run.runId] }, 'rollback', 'asked');

  /**
   * Expects that only whole checkpoints of the run are left, no other run of its thread begins, and its worker can
   * write nothing.
   */
  async function goesOn(run: ClaimedRun): Promise<void> {
    const newest = (await left('checkpoint', run.threadId)).filter((id) => id.startsWith('c'));
    expect(newest).toHaveLength(LONG - STEP);
    for (const table of TABLES)
      expect((await left(table, run.threadId)).filter((id) => id.startsWith('c'))).toEqual(newest);
    expect(newest[0]).toBe(`c0${LONG - STEP}`);
    await fixture.engine.createRun(aRun({ threadId: run.threadId }));
    expect(await fixture.engine.claimRuns(await fixture.worker(), 1)).toEqual([]);
    await expect(fixture.engine.finishRun(success(run))).rejects.toThrow('taken over');
  }

  async function endsBySweep(run: ClaimedRun): Promise<void> {
    const ended = await fixture.engine.rescue.endCancelled();
    expect(ended).toMatchObject([{ runId: run.runId, status: 'interrupted', isRolledBack: true }]);
    for (const table of TABLES) expect(await left(table, run.threadId)).toHaveLength(LONG);
    expect(await fixture.engine.getRun(run.threadId, run.runId)).toBeUndefined();
    expect(await fixture.engine.claimRuns(await fixture.worker(), 1)).toHaveLength(1);
  }

  it('by its worker delays no other end, and a sweep continues it', async () => {
    const [run, other] = [await running(), await running()];
    await order(run);
    const [finished, otherFinished] = await Promise.all(
      [run, other].map((each) => fixture.engine.finishRun(success(each))),
    );
    expect([finished!.isRollingBack, otherFinished!.isRollingBack]).toEqual([true, false]);
    await goesOn(run);
    await endsBySweep(run);
  });

  it('while it waits for another attempt is in flight until it is deleted', async () => {
    const run = await running();
    await fixture.engine.releaseRun(run.fence);
    expect(await order(run)).toMatchObject([{ runId: run.runId, outcome: 'ordered' }]);
    await goesOn(run);
    await endsBySweep(run);
  });

  it('when it is released is not reported as ended before it has ended', async () => {
    const run = await running();
    await order(run);
    expect(await fixture.engine.releaseRun(run.fence)).toEqual({ outcome: 'rollingBack' });
    await goesOn(run);
    await endsBySweep(run);
  });

  it.each([
    ['before its worker obeys', () => Promise.resolve()],
    ['while it is rolled back', (run: ClaimedRun) => fixture.engine.finishRun(success(run))],
  ])('is rolled back completely when it is deleted %s', async (_, obey) => {
    const run = await running();
    await order(run);
    await obey(run);
    expect(await fixture.engine.deleteRun(run.threadId, run.runId)).toMatchObject({ runId: run.runId });
    for (const table of TABLES) {
      const ids = await left(table, run.threadId);
      expect([ids.length, ids.filter((id) => id.startsWith('c'))]).toEqual([LONG, []]);
    }
    expect(await fixture.engine.rescue.endCancelled()).toEqual([]);
    await expect(fixture.engine.finishRun(success(run))).rejects.toMatchObject({ name: 'FencedError' });
  });
});
