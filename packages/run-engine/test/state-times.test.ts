import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { StateTimes } from '../src/threads/state-times.ts';
import { aRun, type EngineFixture, openEngine } from './engine-fixture.ts';

let fixture: EngineFixture;
beforeAll(async () => {
  fixture = await openEngine();
});
afterAll(() => fixture?.close());

async function timeOf(threadId: string): Promise<number> {
  const [row] = await fixture.rows('SELECT state_updated_at FROM thread WHERE thread_id = $1', [threadId]);
  return (row!.state_updated_at as Date).getTime();
}

it('the time of a state moves with the checkpoints of a running run, of many threads in one statement, and never back', async () => {
  const busy = [await fixture.thread(), await fixture.thread()];
  for (const threadId of busy) await fixture.engine.createRun(aRun({ threadId }));
  const idle = await fixture.thread();
  const before = await Promise.all([...busy, idle].map(timeOf));
  const query = vi.spyOn(fixture.pool, 'query');
  const times = new StateTimes({ pool: fixture.pool, onError: (error) => expect(error).toBeUndefined() });
  times.recordCommits([busy[0]!]);
  times.recordCommits([busy[1]!, idle]);
  await times.close();
  expect(query).toHaveBeenCalledOnce();
  query.mockRestore();
  const after = await Promise.all([...busy, idle].map(timeOf));
  expect(after.map((time, index) => time > before[index]!)).toEqual([true, true, false]);

  await fixture.rows(`UPDATE thread SET state_updated_at = now() + interval '1 minute' WHERE thread_id = $1`, [
    busy[0],
  ]);
  const ahead = await timeOf(busy[0]!);
  times.recordCommits([busy[0]!]);
  await times.close();
  expect(await timeOf(busy[0]!)).toBe(ahead);
});

it('the time of a state does not wait for a locked thread', async () => {
  const threadId = await fixture.thread();
  await fixture.engine.createRun(aRun({ threadId }));
  const before = await timeOf(threadId);
  const client = await fixture.pool.connect();
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM thread WHERE thread_id = $1 FOR UPDATE', [threadId]);
  const times = new StateTimes({ pool: fixture.pool, onError: (error) => expect(error).toBeUndefined() });
  times.recordCommits([threadId]);
  await times.close();
  await client.query('COMMIT');
  client.release();
  expect(await timeOf(threadId)).toBe(before);
});
