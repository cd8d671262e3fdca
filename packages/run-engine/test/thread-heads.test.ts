import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aRun, type EngineFixture, openEngine, success } from './engine-fixture.ts';
import { findWrongHeads } from './thread-heads.ts';

let fixture: EngineFixture;
beforeEach(async () => {
  fixture = await openEngine();
});
afterEach(() => fixture.close());

const createOn = async (threadId: string, overrides = {}) =>
  (await fixture.engine.createRun(aRun({ threadId, ...overrides }))).run.runId;
const claimedIds = async () =>
  (await fixture.engine.claimRuns(await fixture.worker(), 10)).map(({ runId }) => runId).sort();
const headOf = async (threadId: string) =>
  (await fixture.rows('SELECT head_ready_at FROM thread_fence WHERE thread_id = $1', [threadId]))[0]!.head_ready_at;

/** Sweeps as a second has passed since the last sweep: the floors move. */
async function sweepLater(): Promise<void> {
  await fixture.rows("UPDATE deployment SET floors_read_at = floors_read_at - interval '2 seconds'");
  await fixture.engine.sweep();
}

describe('beside processes of the previous release', () => {
  it('a run that they create is claimed at once', async () => {
    const threadId = await fixture.thread();
    const { runId, assistantId } = aRun();
    await fixture.rows(`INSERT INTO run (run_id, thread_id, assistant_id, kwargs) VALUES ($1, $2, $3, '{}')`, [
      runId,
      threadId,
      assistantId,
    ]);
    expect(await claimedIds()).toEqual([runId]);
  });

  it('a run that waits on a thread whose run they end is claimed', async () => {
    const threadId = await fixture.thread();
    const first = await createOn(threadId);
    expect(await claimedIds()).toEqual([first]);
    const second = await createOn(threadId);
    await fixture.rows(
      `WITH ended AS (UPDATE run SET status = 'success' WHERE run_id = $1)
       UPDATE thread_fence SET epoch = epoch + 1, run_id = NULL WHERE thread_id = $2`,
      [first, threadId],
    );
    expect(await claimedIds()).toEqual([second]);
  });

  it('a sweep forgets threads whose last run they ended, and leaves those with runs', async () => {
    const [threadId, waiting] = [await fixture.thread(), await fixture.thread()];
    const runId = await createOn(threadId);
    await createOn(waiting);
    await fixture.rows(`UPDATE run SET status = 'interrupted' WHERE run_id = $1`, [runId]);
    expect(await findWrongHeads(fixture)).toHaveLength(1);
    await fixture.engine.sweep();
    expect(await findWrongHeads(fixture)).toEqual([]);
    expect(await headOf(threadId)).toBeNull();
  });

  it('a run that they hand back below the floor is claimed after a sweep', async () => {
    const threadId = await fixture.thread();
    await sweepLater();
    await sweepLater();
    const runId = await createOn(threadId);
    await fixture.rows(`UPDATE run SET ready_at = ready_at - interval '1 hour' WHERE run_id = $1`, [runId]);
    expect(await claimedIds()).toEqual([]);
    await sweepLater();
    expect(await claimedIds()).toEqual([runId]);
  });
});

describe('a claim with a floor', () => {
  it('takes the next run of a thread when one has ended, however long it has waited', async () => {
    const threadId = await fixture.thread();
    const [first, second] = [await createOn(threadId), await createOn(threadId)];
    const [claimed] = await fixture.engine.claimRuns(await fixture.worker(), 1);
    expect(claimed!.runId).toBe(first);
    await fixture.rows(`UPDATE run SET ready_at = ready_at - interval '1 hour' WHERE run_id = $1`, [second]);
    await sweepLater();
    await sweepLater();
    await fixture.engine.finishRun(success(claimed!));
    expect(await claimedIds()).toEqual([second]);
  });

  it('takes a run that its worker gives back at once, although it was accepted long before', async () => {
    const { run } = await fixture.engine.createRun(aRun());
    await fixture.rows(`UPDATE run SET ready_at = ready_at - interval '1 hour'`);
    const [claimed] = await fixture.engine.claimRuns(await fixture.worker(), 1);
    await sweepLater();
    await sweepLater();
    await fixture.engine.releaseRun(claimed!.fence);
    expect(await claimedIds()).toEqual([run.runId]);
  });

  it('takes a run whose creation was open during a sweep', async () => {
    const threadId = await fixture.thread();
    const client = await fixture.pool.connect();
    await client.query('BEGIN');
    const { runId, assistantId } = aRun();
    await client.query(`INSERT INTO run (run_id, thread_id, assistant_id, kwargs) VALUES ($1, $2, $3, '{}')`, [
      runId,
      threadId,
      assistantId,
    ]);
    await fixture.engine.sweep();
    await sweepLater();
    await client.query('COMMIT');
    client.release();
    await sweepLater();
    expect(await claimedIds()).toEqual([runId]);
  });

  it('looks below the floor when no sweep has moved it for ten seconds', async () => {
    const threadId = await fixture.thread();
    await sweepLater();
    await sweepLater();
    const runId = await createOn(threadId);
    await fixture.rows(`UPDATE run SET ready_at = ready_at - interval '1 hour' WHERE run_id = $1`, [runId]);
    expect(await claimedIds()).toEqual([]);
    await fixture.rows("UPDATE deployment SET floors_read_at = now() - interval '11 seconds'");
    expect(await claimedIds()).toEqual([runId]);
  });
});
