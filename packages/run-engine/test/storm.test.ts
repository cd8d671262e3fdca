import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClaimedRun } from '../src/runs/types.ts';
import type { MultitaskStrategy } from '../src/types.ts';
import { aRun, type EngineFixture, openEngine, success, writeCheckpointUnderFence } from './engine-fixture.ts';
import { findWrongHeads } from './thread-heads.ts';

const SEED = Number(process.env.STORM_SEED ?? 20_261_120);
const OPERATIONS = 400;
const STRATEGIES: MultitaskStrategy[] = ['enqueue', 'enqueue', 'reject', 'interrupt', 'rollback'];

let fixture: EngineFixture;
beforeAll(async () => {
  fixture = await openEngine({ maxFailures: 1_000 });
});
afterAll(() => fixture.close());

/** Returns the same numbers for the same seed (mulberry32). */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

it(`each run ends once and nothing is left behind, whatever happens at once (seed ${SEED})`, async () => {
  const random = randomNumbers(SEED);
  const threads = await Promise.all(Array.from({ length: 6 }, () => fixture.thread()));
  const workers = await Promise.all(Array.from({ length: 3 }, () => fixture.worker()));
  const rejections: string[] = [];
  const expected = /already running|not found|taken over|in-flight/;
  const violations: string[] = [];
  let isOver = false;

  /** Works like a worker that sometimes fails, releases a run, dies, or writes late. */
  async function work(worker: string): Promise<void> {
    for (;;) {
      const wasOver = isOver;
      const claimed = await fixture.engine.claimRuns(worker, 3);
      if (claimed.length === 0 && wasOver) return;
      const threadIds = claimed.map((run) => run.threadId);
      if (new Set(threadIds).size !== threadIds.length) violations.push('two runs of a thread in one claim');
      await Promise.all(claimed.map((run) => execute(run, worker, wasOver ? 9 : random(10))));
      if (claimed.length === 0) await fixture.engine.sweep();
    }
  }

  async function execute(run: ClaimedRun, worker: string, fate: number): Promise<void> {
    const client = await fixture.pool.connect();
    await client.query('BEGIN');
    await writeCheckpointUnderFence(client, run, randomUUID());
    await client.query('COMMIT');
    client.release();
    if (fate === 0) await tolerated(fixture.engine.releaseRun(run.fence));
    else if (fate === 1) {
      await tolerated(fixture.engine.releaseRun(run.fence, { failure: { error: 'GraphHostLost', message: '' } }));
    } else if (fate === 2) {
      await fixture.pool.query('UPDATE run SET worker_id = $2 WHERE run_id = $1', [run.runId, randomUUID()]);
      await fixture.engine.sweep();
      await tolerated(fixture.engine.finishRun(success(run)));
    } else if (fate === 3) {
      await tolerated(fixture.engine.finishRun(success(run, { status: 'error', threadStatus: 'error' })));
    } else await tolerated(fixture.engine.finishRun(success(run)));
    if (fate === 4) await fixture.engine.renewLease(worker, []);
  }

  async function tolerated(operation: Promise<unknown>): Promise<void> {
    await operation.catch((error: Error) => {
      if (!expected.test(error.message)) rejections.push(`${error.name}: ${error.message}`);
    });
  }

  const created = new Map<string, string>();
  const deleted = new Set<string>();
  async function operate(kind: number, threadId: string, strategy: MultitaskStrategy): Promise<void> {
    if (kind < 6) {
      const run = aRun({ threadId, multitaskStrategy: strategy });
      created.set(run.runId, threadId);
      await tolerated(fixture.engine.createRun(run));
    } else if (kind === 6) await tolerated(fixture.engine.createRun(aRun()));
    else if (kind === 7) {
      const runIds = [...created.keys()].slice(-3);
      await tolerated(fixture.engine.requestCancel({ threadId, runIds }, 'interrupt', 'asked'));
    } else if (kind === 8) {
      await tolerated(
        fixture.engine.beginStateUpdate(threadId).then((fence) =>
          fixture.engine.commitStateUpdate({
            fence,
            values: null,
            interrupts: null,
            checkpointId: 'c',
            status: 'idle',
          }),
        ),
      );
    } else {
      const [runId] = [...created.entries()].filter(([, of]) => of === threadId).map(([id]) => id);
      if (runId) await tolerated(fixture.engine.deleteRun(threadId, runId).then(() => deleted.add(runId)));
    }
  }

  const working = workers.map(work);
  for (let done = 0; done < OPERATIONS; done += 8) {
    await Promise.all(
      Array.from({ length: 8 }, () => operate(random(10), threads[random(6)]!, STRATEGIES[random(5)]!)),
    );
  }
  isOver = true;
  await Promise.all(working);

  expect(violations).toEqual([]);
  expect(rejections).toEqual([]);
  expect(await fixture.rows(`SELECT run_id FROM run WHERE status IN ('pending', 'running')`)).toEqual([]);
  expect(await fixture.rows('SELECT thread_id FROM thread_fence WHERE run_id IS NOT NULL')).toEqual([]);
  expect(await fixture.rows(`SELECT thread_id FROM thread WHERE status = 'busy'`)).toEqual([]);
  expect(await findWrongHeads(fixture)).toEqual([]);
  const unkept = `SELECT f.thread_id FROM thread_fence f LEFT JOIN thread t USING (thread_id) WHERE t.thread_id IS NULL`;
  expect(await fixture.rows(unkept)).toEqual([]);
  const notEnded = `SELECT event->'data'->>'run_id' AS run_id FROM outbox GROUP BY 1
                    HAVING count(*) FILTER (WHERE event->>'type' = 'runyard.run.finished') <> 1`;
  expect(await fixture.rows(notEnded)).toEqual([]);
  // Runs without a row were rolled back, which deletes their checkpoints, or deleted, which leaves them.
  const orphans = `SELECT DISTINCT c.run_id FROM checkpoint c LEFT JOIN run r USING (run_id)
                   WHERE r.run_id IS NULL AND c.run_id <> ALL($1::uuid[])`;
  expect(await fixture.rows(orphans, [[...deleted]])).toEqual([]);
});
