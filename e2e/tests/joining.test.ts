import { describe, expect, it } from 'vitest';
import { collectEvents, newClient, readUntil } from '../harness/client.ts';

const client = newClient();
const endless = { input: { name: 'long', steps: 100_000, stepMs: 20 }, config: { recursion_limit: 200_000 } };

describe('a second client', () => {
  it('joins a run in flight and sees the same events as the first from there on', async () => {
    const thread = await client.threads.create();
    const run = await client.runs.create(thread.thread_id, 'slow', {
      input: { name: 'shared', steps: 20, stepMs: 30 },
      streamMode: ['updates'],
      streamResumable: true,
    });
    const first = client.runs.joinStream(thread.thread_id, run.run_id, { streamMode: ['updates'], lastEventId: '-1' });
    const seen: { id?: string; data: unknown }[] = [];
    let second: Promise<{ id?: string; data: unknown }[]> | undefined;
    for await (const event of first) {
      if (event.event !== 'updates') continue;
      seen.push(event as { id?: string; data: unknown });
      if (seen.length === 3)
        second = collectEvents(
          newClient().runs.joinStream(thread.thread_id, run.run_id, {
            streamMode: ['updates'],
            lastEventId: String(event.id),
          }),
        );
    }
    expect(seen).toHaveLength(20);
    expect((await second)?.map((event) => [event.id, event.data])).toEqual(
      seen.slice(3).map((event) => [event.id, event.data]),
    );
  });

  it('gets the final values by join', async () => {
    const thread = await client.threads.create();
    const run = await client.runs.create(thread.thread_id, 'slow', { input: { name: 'j', steps: 3, stepMs: 20 } });
    const [a, b] = await Promise.all([
      client.runs.join(thread.thread_id, run.run_id),
      newClient().runs.join(thread.thread_id, run.run_id),
    ]);
    expect(a).toMatchObject({ done: ['j:2', 'j:1', 'j:0'] });
    expect(b).toEqual(a);
  });

  it('cancels a long run: its stream ends, the run is interrupted and the thread can be used again', async () => {
    const thread = await client.threads.create();
    const run = await client.runs.create(thread.thread_id, 'slow', {
      ...endless,
      streamMode: ['updates'],
      streamResumable: true,
    });
    const stream = client.runs.joinStream(thread.thread_id, run.run_id, { lastEventId: '-1' });
    await readUntil(stream, (event) => event.event === 'updates');
    const rest = collectEvents(client.runs.joinStream(thread.thread_id, run.run_id));
    await newClient().runs.cancel(thread.thread_id, run.run_id, true);
    await rest;
    expect((await client.runs.get(thread.thread_id, run.run_id)).status).toBe('interrupted');
    const after = await client.runs.wait(thread.thread_id, 'slow', { input: { name: 'after', steps: 1, stepMs: 1 } });
    expect((after as { done: string[] }).done.at(-1)).toBe('after:0');
  });
});
