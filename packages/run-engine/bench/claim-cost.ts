/**
 * Measures what a claim costs while runs wait behind others, and while somebody holds a snapshot: `npx tsx
 * packages/run-engine/bench/claim-cost.ts`, with RUNYARD_TEST_POSTGRES_URL set. All figures are medians.
 */
import { aRun, type EngineFixture, openEngine, success } from '../test/engine-fixture.ts';

const CLAIMS = 41;
const THREADS = 20_000;
const PASSED = 30_000;

for (const queued of [0, 20_000, 80_000]) await inFixture((fixture) => measureQueue(fixture, queued));
await inFixture(measureHeldSnapshot);

async function inFixture(measure: (fixture: EngineFixture) => Promise<void>): Promise<void> {
  const fixture = await openEngine({ waitingRunsMax: 1_000_000 });
  await fixture.rows(
    `INSERT INTO thread_fence (thread_id) SELECT gen_random_uuid() FROM generate_series(1, ${THREADS}) AS n`,
  );
  await measure(fixture);
  await fixture.close();
}

/** Claims the only run of a thread beside one with a queue that is busy, and then free. */
async function measureQueue(fixture: EngineFixture, queued: number): Promise<void> {
  const worker = await fixture.worker();
  const threadId = await fixture.thread();
  await fixture.engine.createRun(aRun({ threadId }));
  const [running] = await fixture.engine.claimRuns(worker, 1);
  await fixture.rows(
    `INSERT INTO run (run_id, thread_id, assistant_id, kwargs)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), '{}' FROM generate_series(1, $2::integer)`,
    [threadId, queued],
  );
  await fixture.rows('ANALYZE');
  await fixture.engine.sweep();
  const busy = await median(async () => {
    await fixture.engine.createRun(aRun());
    const [elapsed, [other]] = await timed(() => fixture.engine.claimRuns(worker, 10));
    await fixture.engine.finishRun(success(other!));
    return elapsed;
  });
  let next = running!;
  const free: number[] = [];
  const end = await median(async () => {
    const [elapsed] = await timed(() => fixture.engine.finishRun(success(next)));
    if (queued === 0) await fixture.engine.createRun(aRun({ threadId }));
    const [claiming, [claimed]] = await timed(() => fixture.engine.claimRuns(worker, 10));
    next = claimed!;
    free.push(claiming);
    return elapsed;
  });
  const create = await median(async () => (await timed(() => fixture.engine.createRun(aRun({ threadId }))))[0]);
  const figures = { 'claim of another thread': busy, 'claim of its thread': middle(free), end, 'create on it': create };
  report(`${queued} queued on one thread`, figures);
}

/** Claims, with an empty queue and with one run, after many runs have passed while a snapshot was held. */
async function measureHeldSnapshot(fixture: EngineFixture): Promise<void> {
  const worker = await fixture.worker();
  const measure = async () => {
    await fixture.rows('UPDATE deployment SET floors_read_at = NULL');
    await fixture.engine.sweep();
    await fixture.rows('UPDATE deployment SET floors_read_at = NULL');
    await fixture.engine.sweep();
    const empty = await median(async () => (await timed(() => fixture.engine.claimRuns(worker, 10)))[0]);
    const one = await median(async () => {
      await fixture.engine.createRun(aRun());
      const [elapsed, [run]] = await timed(() => fixture.engine.claimRuns(worker, 10));
      await fixture.engine.finishRun(success(run!));
      return elapsed;
    });
    return { 'claim of nothing': empty, 'claim of one run': one };
  };
  report('no snapshot held', await measure());
  const holder = await fixture.pool.connect();
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await holder.query('SELECT count(*) FROM run');
  await fixture.rows(
    `WITH passed AS (
       INSERT INTO thread_fence (thread_id, head_ready_at)
       SELECT gen_random_uuid(), now() FROM generate_series(1, ${PASSED}) RETURNING thread_id
     )
     INSERT INTO run (run_id, thread_id, assistant_id, kwargs)
     SELECT gen_random_uuid(), thread_id, gen_random_uuid(), '{}' FROM passed`,
  );
  await fixture.rows(`UPDATE run SET status = 'success', ended_at = now() WHERE status = 'pending'`);
  await fixture.rows('UPDATE thread_fence SET head_ready_at = NULL WHERE head_ready_at IS NOT NULL');
  await fixture.rows('VACUUM ANALYZE run');
  await fixture.rows('VACUUM ANALYZE thread_fence');
  report(`snapshot held for ${PASSED} runs`, await measure());
  const [look] = await timed(() => fixture.engine.sweep());
  report('the look of a sweep', { sweep: look });
  await holder.query('COMMIT');
  holder.release();
}

async function timed<T>(work: () => Promise<T>): Promise<[milliseconds: number, result: T]> {
  const startedAt = performance.now();
  const result = await work();
  return [performance.now() - startedAt, result];
}

async function median(measure: () => Promise<number>): Promise<number> {
  const figures: number[] = [];
  for (let count = 0; count < CLAIMS; count += 1) figures.push(await measure());
  return middle(figures);
}

function middle(figures: number[]): number {
  return figures.toSorted((a, b) => a - b)[figures.length >> 1]!;
}

function report(what: string, figures: Record<string, number>): void {
  const columns = Object.entries(figures).map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`);
  console.log(`${what}: ${columns.join(', ')}`);
}
