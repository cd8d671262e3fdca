import { describe, expect, it } from 'vitest';
import { newClient, readUntil } from '../harness/client.ts';

const client = newClient();
/** Lasts until it is ended, however long that takes. */
const LONG = { input: { name: 'first', steps: 10_000, stepMs: 20 }, config: { recursion_limit: 10_001 } };
const SHORT = { input: { name: 'second', steps: 1, stepMs: 1 } };

/**
 * Creates a thread whose first run has a state of its own and continues, and returns the answer its client waits for.
 */
async function busyThread() {
  const { thread_id } = await client.threads.create();
  const waiting = client.runs.wait(thread_id, 'slow', LONG);
  // A later line looks at its outcome.
  waiting.catch(() => undefined);
  let run = (await client.runs.list(thread_id))[0];
  while (!run) run = (await client.runs.list(thread_id))[0];
  await readUntil(
    client.runs.joinStream(thread_id, run.run_id),
    ({ event, data }) => event === 'values' && doneBy(data).length > 0,
  );
  return { thread_id, first: run, waiting };
}

const doneBy = (values: unknown) => (values as { done: string[] }).done;

describe('a run on a busy thread', () => {
  it('interrupts the one before, which keeps the state it reached', async () => {
    const { thread_id, first, waiting } = await busyThread();
    const values = await client.runs.wait(thread_id, 'slow', { ...SHORT, multitaskStrategy: 'interrupt' });
    expect(doneBy(values)).toContain('first:9999');
    expect(doneBy(values).at(-1)).toBe('second:0');
    expect(doneBy(await waiting)).toContain('first:9999');
    const kept = (await client.runs.get(thread_id, first.run_id)) as { status: string; cancel_reason?: string };
    expect(kept.status).toBe('interrupted');
    expect(kept.cancel_reason).toContain('interrupt requested by a new run');
  });

  it('rolls the one before back, of which nothing is left but what its own client saw', async () => {
    const { thread_id, first, waiting } = await busyThread();
    const values = await client.runs.wait(thread_id, 'slow', { ...SHORT, multitaskStrategy: 'rollback' });
    expect(doneBy(values)).toEqual(['second:0']);
    expect(doneBy(await waiting)).toContain('first:9999');
    await expect(client.runs.get(thread_id, first.run_id)).rejects.toMatchObject({ status: 404 });
    expect(await client.runs.list(thread_id)).toHaveLength(1);
  });

  it('is deleted with the run it waited for, and its thread is free again', async () => {
    const { thread_id, first, waiting } = await busyThread();
    const second = await client.runs.create(thread_id, 'slow', SHORT);
    await client.runs.delete(thread_id, second.run_id);
    await client.runs.delete(thread_id, first.run_id);
    await waiting;
    expect((await client.threads.get(thread_id)).status).toBe('idle');
    expect(doneBy(await client.runs.wait(thread_id, 'slow', SHORT)).at(-1)).toBe('second:0');
  });
});
