import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, openDeployment } from './worker-fixture.ts';

const SECRET = 'the cat is in the kettle';
/** Tables that hold what a run leaves, besides the columns that are searched. */
const TABLES = ['run', 'thread_state', 'checkpoint', 'checkpoint_blob', 'checkpoint_write', 'outbox'];

let deployment: Deployment;
beforeAll(async () => {
  deployment = await openDeployment({ aesKey: 'k'.repeat(32) });
  await deployment.startWorker();
});
afterAll(() => deployment.close());

async function contentOf(table: string): Promise<string> {
  const rows = await deployment.rows(`SELECT * FROM ${table}`);
  return rows
    .flatMap((row) => Object.values(row))
    .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value, (_, v) => String(v))))
    .join('\n');
}

describe('with LANGGRAPH_AES_KEY', () => {
  it('nothing that runs get or emit can be read in the database, and they continue from each other', async () => {
    const threadId = await deployment.thread();
    for (const log of [[SECRET], ['more']]) {
      await deployment.ended(await deployment.create('echo', { threadId, input: { log } }));
    }
    const [last] = await deployment.engine.listRuns({ threadId, limit: 1, offset: 0 });
    const { result } = await deployment.ended(last!);
    expect(JSON.parse(Buffer.from(result!).toString()).log).toEqual([SECRET, 'one', 'more', 'one']);
    expect(last!.kwargs.input).toEqual({ log: ['more'] });
    const contents = await Promise.all(TABLES.map(contentOf));
    expect(TABLES.filter((_, index) => contents[index]!.includes(SECRET))).toEqual([]);
    expect(contents[3]!.length).toBeGreaterThan(100);
  });

  it('the events of a resumable run cannot be read in Redis, and clients read them there', async () => {
    const threadId = await deployment.thread();
    const run = await deployment.create('echo', { threadId, input: { log: [SECRET] }, resumable: true });
    await deployment.ended(run);
    const events = await deployment.events(run);
    expect(events.map(({ kind }) => kind)).toContain('run.end');
    expect(events.filter(({ data }) => data.includes(SECRET)).length).toBeGreaterThan(1);
    const contents = await deployment.redisContents();
    expect(contents).toContain(threadId);
    expect(contents).not.toContain(SECRET);
  });

  it('a run on a thread whose state has a key that is away waits for it uncharged, and goes on when it is there', async () => {
    const threadId = await deployment.thread();
    await deployment.ended(await deployment.create('echo', { threadId, input: { log: [SECRET] } }));
    // The four bytes behind the first name the key.
    const setKey = 'UPDATE checkpoint SET data = overlay(data placing $2::bytea FROM 2 FOR 4) WHERE thread_id = $1';
    const keyOf = 'SELECT substring(data FROM 2 FOR 4) AS key FROM checkpoint WHERE thread_id = $1 LIMIT 1';
    const [{ key }] = (await deployment.rows(keyOf, [threadId])) as [{ key: Buffer }];
    await deployment.rows(setKey, [threadId, Buffer.alloc(4)]);
    const run = await deployment.create('echo', { threadId, input: { log: ['more'] } });
    const waiting = `SELECT failures, key_missing_since IS NOT NULL AS "awaitsKey" FROM run
                     WHERE run_id = $1 AND status = 'pending' AND attempt = 1`;
    const [released] = await waitFor(
      async () => {
        const rows = await deployment.rows(waiting, [run.runId]);
        return rows.length > 0 ? rows : undefined;
      },
      { what: 'the end of the attempt' },
    );
    expect(released).toEqual({ failures: 0, awaitsKey: true });
    await deployment.rows(setKey, [threadId, key]);
    await deployment.rows('UPDATE run SET ready_at = created_at WHERE run_id = $1', [run.runId]);
    const { status, attempt, result } = await deployment.ended(run);
    expect({ status, attempt }).toEqual({ status: 'success', attempt: 2 });
    expect(JSON.parse(Buffer.from(result!).toString()).log).toEqual([SECRET, 'one', 'more', 'one']);
  });

  it('a run on state that was changed in the database fails once, with the reason', async () => {
    const threadId = await deployment.thread();
    await deployment.ended(await deployment.create('echo', { threadId, input: { log: [SECRET] } }));
    const damage = `UPDATE checkpoint SET data = overlay(data placing '\\x0000' FROM 20 FOR 2) WHERE thread_id = $1`;
    await deployment.rows(damage, [threadId]);
    const run = await deployment.ended(await deployment.create('echo', { threadId, input: { log: ['more'] } }));
    expect(run).toMatchObject({
      status: 'error',
      attempt: 1,
      error: { error: 'StateUnreadableError', message: expect.stringContaining('was changed') },
    });
  });

  it('the key does not reach the code of the project', async () => {
    const run = await deployment.create('environment', {});
    const { result } = await deployment.ended(run);
    expect(Buffer.from(result!).toString()).not.toContain('AES');
  });
});
