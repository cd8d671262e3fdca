import { uuid6 } from '@langchain/langgraph-checkpoint';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { PostgresCheckpoints } from '../src/index.ts';
import { type DeploymentDatabase, openCheckpoints, openDeploymentDatabase, takeOver } from './deployment-database.ts';
import { samplePut, sampleWrites, valuesOf } from './sample-checkpoints.ts';

const CHECKPOINTS = 60;

let database: DeploymentDatabase;
let checkpoints: PostgresCheckpoints;
beforeAll(async () => {
  database = await openDeploymentDatabase();
  checkpoints = openCheckpoints(database.pool);
  await database.pool.query('CREATE TABLE deletion (part bigint, checkpoints int)');
});
afterEach(() => database.pool.query('DROP FUNCTION on_deletion CASCADE; TRUNCATE deletion'));
afterAll(() => database.close());

/** Runs SQL after each statement that deletes checkpoints; the SQL reads them from `removed`. */
async function afterEachDeletion(sql: string): Promise<void> {
  await database.pool.query(`CREATE FUNCTION on_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN ${sql}; RETURN NULL; END $$`);
  await database.pool.query(`CREATE TRIGGER on_deletion AFTER DELETE ON checkpoint
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION on_deletion()`);
}

async function aLongThread() {
  const fence = await takeOver(database.pool);
  const { threadId } = fence;
  const run = checkpoints.forRun(fence);
  await Promise.all(
    Array.from({ length: CHECKPOINTS }, (_, index) => {
      const put = samplePut({ threadId, checkpointId: uuid6(index), changed: { n: [index, index] } });
      return [run.put(put), run.putWrites(sampleWrites(put.key, 'task', ['n', index]))];
    }).flat(),
  );
  return { threadId, run };
}

async function rowsOf(threadId: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `SELECT ((SELECT count(*) FROM checkpoint WHERE thread_id = $1) + (SELECT count(*) FROM checkpoint_blob WHERE thread_id = $1)
             + (SELECT count(*) FROM checkpoint_write WHERE thread_id = $1))::int AS count`,
    [threadId],
  );
  return rows[0]!.count;
}

it('a graph deletes a long thread in several transactions, and what it puts after that stays', async () => {
  await afterEachDeletion('INSERT INTO deletion SELECT txid_current(), count(*) FROM removed');
  const { threadId, run } = await aLongThread();
  const after = samplePut({ threadId, checkpointId: uuid6(CHECKPOINTS), changed: { n: [99, 'after'] } });
  await Promise.all([run.deleteThread(threadId), run.put(after)]);
  expect((await checkpoints.readOnly().list({ threadId })).map(valuesOf)).toEqual([{ n: 'after' }]);
  expect(await rowsOf(threadId)).toBe(2);
  const { rows } = await database.pool.query<{ checkpoints: number }>(
    'SELECT sum(checkpoints)::int AS checkpoints FROM deletion GROUP BY part ORDER BY part',
  );
  expect(rows[0]).toEqual({ checkpoints: 16 });
  expect(rows.filter((part) => part.checkpoints > 0).length).toBeGreaterThan(2);
});

it('an owner that loses the thread between two parts removes no more of it, and its newest state is whole', async () => {
  // The thread is taken over when the first part has committed.
  await afterEachDeletion(
    'UPDATE thread_fence SET epoch = epoch + 1 WHERE thread_id IN (SELECT thread_id FROM removed)',
  );
  const { threadId, run } = await aLongThread();
  await expect(run.deleteThread(threadId)).rejects.toMatchObject({ reason: 'fenced' });
  const left = await checkpoints.readOnly().list({ threadId });
  expect(left.map(valuesOf)).toEqual(
    Array.from({ length: CHECKPOINTS - 16 }, (_, index) => ({ n: CHECKPOINTS - 1 - index })),
  );
});
