import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PostgresCheckpoints } from '../src/index.ts';
import { type DeploymentDatabase, openCheckpoints, openDeploymentDatabase, takeOver } from './deployment-database.ts';
import { samplePut, sampleWrites } from './sample-checkpoints.ts';

let database: DeploymentDatabase;
let checkpoints: PostgresCheckpoints;

beforeAll(async () => {
  database = await openDeploymentDatabase();
  checkpoints = openCheckpoints(database.pool);
});
afterAll(() => database.close());

async function newRun(threadId?: string) {
  const fence = await takeOver(database.pool, threadId === undefined ? {} : { threadId });
  const run = { threadId: fence.threadId, runId: fence.runId as string };
  const newest = (below = Number.MAX_SAFE_INTEGER) => checkpoints.newestStreamPosition({ ...run, below });
  return { ...run, backend: checkpoints.forRun(fence), newest };
}

it('the newest stream position of a run is the highest of its checkpoints in any namespace', async () => {
  const { threadId, backend, newest } = await newRun();
  const root = samplePut({ threadId });
  await backend.put({ ...root, streamPosition: 2 ** 32 });
  await backend.put({ ...samplePut({ threadId, namespace: 'inside:1' }), streamPosition: 2 ** 32 + 7 });
  expect(await newest()).toBe(2 ** 32 + 7);
  await backend.put({ ...samplePut({ threadId, parent: root.key }), streamPosition: 3 * 2 ** 32 });
  expect(await newest()).toBe(3 * 2 ** 32);
  expect(await newest(3 * 2 ** 32)).toBe(2 ** 32 + 7);
});

it('writes count too, also those at a checkpoint of the run before', async () => {
  const before = await newRun();
  const { threadId } = before;
  const asking = samplePut({ threadId });
  const inside = samplePut({ threadId, namespace: 'inside:1' });
  await before.backend.put({ ...asking, streamPosition: 90 });
  await before.backend.put({ ...inside, streamPosition: 91 });
  await before.backend.putWrites({ ...sampleWrites(asking.key, 'other task', ['a', 1]), streamPosition: 92 });
  const { backend, newest } = await newRun(threadId);
  expect(await newest()).toBeUndefined();
  await backend.putWrites({ ...sampleWrites(asking.key, 'task', ['a', 1]), streamPosition: 5 });
  expect(await newest()).toBe(5);
  await backend.putWrites({ ...sampleWrites(inside.key, 'task', ['a', 1]), streamPosition: 6 });
  expect(await newest()).toBe(6);
  expect(await newest(6)).toBe(5);
});

it('a run whose checkpoints an earlier release wrote has no stream position', async () => {
  const { threadId, backend, newest } = await newRun();
  const put = samplePut({ threadId });
  await backend.put(put);
  await backend.putWrites(sampleWrites(put.key, 'task', ['a', 1]));
  expect(await newest()).toBeUndefined();
});
