import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { CheckpointBackend, CheckpointQuery, StoredCheckpoint } from '../src/index.ts';
import { type DeploymentDatabase, openCheckpoints, openDeploymentDatabase, takeOver } from './deployment-database.ts';
import { samplePut, sampleWrites, valuesOf, writesOf } from './sample-checkpoints.ts';

const MEGABYTE = 1024 * 1024;
const PAGE_BYTES = 8 * MEGABYTE;

let database: DeploymentDatabase;
let reads: CheckpointBackend;
beforeAll(async () => {
  database = await openDeploymentDatabase();
  reads = openCheckpoints(database.pool).readOnly();
});
beforeEach(() => database.pool.query('TRUNCATE checkpoint, checkpoint_blob, checkpoint_write'));
afterAll(() => database?.close());

/** Writes a chain of checkpoints on a thread of its own, each with a value of so many bytes, and returns its id. */
async function writeThread(bytes: number[], ids: string[] = [], shared = ''): Promise<string> {
  const fence = await takeOver(database.pool);
  const run = openCheckpoints(database.pool).forRun(fence);
  const { threadId } = fence;
  let parent: ReturnType<typeof samplePut> | undefined;
  for (const [index, size] of bytes.entries()) {
    const changed: Record<string, [number, unknown]> = { value: [index + 1, 'x'.repeat(size)] };
    if (index === 0) changed.shared = [1, shared];
    const unchanged: Record<string, number> = index === 0 ? {} : { shared: 1 };
    const id = ids[index];
    parent = samplePut({
      threadId,
      ...(id && { checkpointId: id }),
      ...(parent && { parent: parent.key }),
      changed,
      unchanged,
    });
    await run.put(parent);
  }
  return threadId;
}

/** Lists as savers do, and keeps the pages. */
async function pagesOf(query: CheckpointQuery): Promise<StoredCheckpoint[][]> {
  const pages: StoredCheckpoint[][] = [];
  for (;;) {
    const page = await reads.list({ ...query, after: pages.at(-1)?.at(-1)?.key, limit: 50 });
    if (page.length === 0) return pages;
    pages.push(page);
  }
}

const sizesOf = (pages: StoredCheckpoint[][]) =>
  pages.map((page) =>
    page.flatMap(({ channelValues }) => channelValues).reduce((sum, { value }) => sum + value.data.byteLength, 0),
  );
const keysOf = (pages: StoredCheckpoint[][]) => pages.flat().map(({ key }) => JSON.stringify(key));

it('a list of large checkpoints ends before its limit, and goes on with each of them once', async () => {
  const threadId = await writeThread(Array.from({ length: 20 }, () => MEGABYTE));
  const pages = await pagesOf({ threadId });
  expect(pages.map((page) => page.length)).toEqual([7, 7, 6]);
  for (const size of sizesOf(pages)) expect(size).toBeLessThanOrEqual(PAGE_BYTES);
  const ids = pages.flat().map(({ key }) => key.checkpointId);
  expect(ids).toEqual([...new Set(ids)].sort().reverse());
  expect(valuesOf(pages[2]!.at(-1))).toEqual({ shared: '', value: 'x'.repeat(MEGABYTE) });
});

it('a page has one checkpoint at least, however large that is', async () => {
  const threadId = await writeThread([1, PAGE_BYTES + MEGABYTE, 1, 1]);
  expect((await pagesOf({ threadId })).map((page) => page.length)).toEqual([2, 1, 1]);
});

it('a value that checkpoints share counts once in a page, and one that is not read does not count', async () => {
  const threadId = await writeThread(
    Array.from({ length: 10 }, () => 10),
    [],
    'x'.repeat(5 * MEGABYTE),
  );
  expect(await pagesOf({ threadId })).toHaveLength(1);
  const large = await writeThread(Array.from({ length: 10 }, () => 2 * MEGABYTE));
  expect(await pagesOf({ threadId: large })).toHaveLength(4);
  expect(await pagesOf({ threadId: large, withoutValuesOf: ['value'] })).toHaveLength(1);
});

it('writes at a checkpoint count in a page', async () => {
  const fence = await takeOver(database.pool);
  const run = openCheckpoints(database.pool).forRun(fence);
  for (let index = 0; index < 4; index += 1) {
    const put = samplePut({ threadId: fence.threadId });
    await run.put(put);
    await run.putWrites(sampleWrites(put.key, 'task', ['messages', 'x'.repeat(3 * MEGABYTE)]));
  }
  const pages = await pagesOf({ threadId: fence.threadId });
  expect(pages.map((page) => page.length)).toEqual([2, 2]);
  expect(writesOf(pages[0]![0])).toHaveLength(1);
});

it('a list over all threads goes on by bytes, also where copies have the same checkpoint ids', async () => {
  const ids = Array.from({ length: 6 }, (_, index) => `1efb0000-0000-6000-8000-00000000000${index}`);
  for (let count = 0; count < 4; count += 1) {
    await writeThread(
      ids.map(() => MEGABYTE),
      ids,
    );
  }
  const pages = await pagesOf({});
  expect(pages.length).toBe(4);
  for (const size of sizesOf(pages)) expect(size).toBeLessThanOrEqual(PAGE_BYTES);
  expect(new Set(keysOf(pages)).size).toBe(24);
  expect(keysOf(pages)).toHaveLength(24);
});

it('a list without a limit, or with a huge one, is a page like others', async () => {
  await writeThread(Array.from({ length: 10 }, () => MEGABYTE));
  for (const limit of [undefined, 1_000_000_000]) expect(await reads.list({ limit })).toHaveLength(7);
});
