import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { shareDeployment } from './shared-deployment.ts';

/** These tests use the official SDK, with a real worker that runs real graphs. */
let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment({ worker: 'real' });
});
afterAll(() => deployment?.close());

const client = () => deployment.client;
const says = (content: string) => ({ messages: [{ role: 'user', content }] });

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const parts: T[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

describe('the SDK', () => {
  it('waits for a run with and without a thread', async () => {
    expect(await client().runs.wait(null, 'echo', { input: says('hi') })).toMatchObject({
      messages: [{ content: 'hi' }, { content: 'echo: hi' }],
    });
    const { thread_id } = await client().threads.create();
    await client().runs.wait(thread_id, 'echo', { input: says('one') });
    const values = (await client().runs.wait(thread_id, 'echo', { input: says('two') })) as { messages: unknown[] };
    expect(values.messages).toHaveLength(4);
    expect(await client().threads.get(thread_id)).toMatchObject({ status: 'idle', metadata: { graph_id: 'echo' } });
  });

  it('streams several modes at once', async () => {
    const parts = await collect(
      client().runs.stream(null, 'chat', {
        input: says('hi'),
        streamMode: ['values', 'updates', 'messages-tuple', 'custom'],
      }),
    );
    const events = parts.map(({ event }) => event as string);
    expect(events[0]).toBe('metadata');
    expect(new Set(events)).toEqual(new Set(['metadata', 'values', 'updates', 'messages', 'custom']));
    const tokens = parts
      .filter(({ event }) => (event as string) === 'messages')
      .map(({ data }) => (data as unknown as [{ content: string }])[0].content);
    expect(tokens.join('')).toBe('The quick brown fox jumps over the lazy dog.');
    expect(tokens.length).toBeGreaterThan(10);
  });

  it('streams events of subgraphs under their names', async () => {
    const parts = await collect(
      client().runs.stream(null, 'family', { input: { text: 'hey' }, streamMode: 'updates', streamSubgraphs: true }),
    );
    expect(
      parts.map(({ event }) => event as string).filter((event) => event.startsWith('updates|child:')),
    ).toHaveLength(1);
  });

  it('reaches an interrupt, reads it from the thread and its state, and resumes', async () => {
    const { thread_id } = await client().threads.create();
    const asked = await client().runs.wait(thread_id, 'approval', { input: { request: 'go' } });
    expect(asked).toMatchObject({ __interrupt__: [{ value: { question: 'May I go?' } }] });
    const thread = await client().threads.get(thread_id);
    expect(thread.status).toBe('interrupted');
    const state = await client().threads.getState(thread_id);
    expect(state.next).toEqual(['ask']);
    expect(Object.keys(thread.interrupts!)).toEqual([state.tasks[0]!.id]);
    const resumed = await client().runs.wait(thread_id, 'approval', { command: { resume: 'yes' } });
    expect(resumed).toMatchObject({ decision: 'yes', log: ['prepared go', 'heard yes', 'did go'] });
    expect(await client().threads.get(thread_id)).toMatchObject({ status: 'idle', interrupts: {} });
    expect((await client().threads.getHistory(thread_id, { limit: 100 })).length).toBeGreaterThan(3);
  });

  it('stops before a node on request', async () => {
    const { thread_id } = await client().threads.create();
    await client().runs.wait(thread_id, 'echo', { input: says('hi'), interruptBefore: ['echo'] });
    expect(await client().threads.get(thread_id)).toMatchObject({ status: 'interrupted' });
    expect((await client().threads.getState(thread_id)).next).toEqual(['echo']);
    const values = (await client().runs.wait(thread_id, 'echo', { input: null })) as { messages: unknown[] };
    expect(values.messages).toHaveLength(2);
  });

  it('starts from an earlier checkpoint', async () => {
    const { thread_id } = await client().threads.create();
    await client().runs.wait(thread_id, 'echo', { input: says('one') });
    const { checkpoint } = await client().threads.getState(thread_id);
    await client().runs.wait(thread_id, 'echo', { input: says('two') });
    const forked = (await client().runs.wait(thread_id, 'echo', {
      input: says('other'),
      checkpointId: checkpoint.checkpoint_id!,
    })) as { messages: { content: string }[] };
    expect(forked.messages.map(({ content }) => content)).toEqual(['one', 'echo: one', 'other', 'echo: other']);
  });

  it('gets a failure with secrets masked', async () => {
    const { thread_id } = await client().threads.create();
    await expect(client().runs.wait(thread_id, 'boom', { input: { heat: 1 } })).rejects.toThrow(
      /^KettleError: cannot reach (?!.*hunter2)/,
    );
    const parts = await collect(client().runs.stream(thread_id, 'boom', { input: { heat: 1 } }));
    expect(parts.at(-1)).toMatchObject({ event: 'error', data: { error: 'KettleError' } });
    const thread = (await client().threads.get(thread_id)) as unknown as { error: unknown; status: string };
    expect(thread).toMatchObject({ status: 'error', error: { error: 'KettleError' } });
    expect(JSON.stringify(thread)).not.toContain('hunter2');
    expect(JSON.stringify(await client().threads.getState(thread_id))).not.toContain('hunter2');
  });

  it('joins from a second client, and cancels a long run', async () => {
    const { thread_id } = await client().threads.create();
    const { run_id } = await client().runs.create(thread_id, 'slow', {
      input: { steps: 1_000, stepMs: 20, name: 'a' },
      streamResumable: true,
    });
    const joined: unknown[] = [];
    for await (const part of client().runs.joinStream(thread_id, run_id, { lastEventId: '-1' })) {
      joined.push(part);
      if (joined.length === 3) break;
    }
    expect(joined[0]).toMatchObject({ event: 'metadata', data: { run_id } });
    await client().runs.cancel(thread_id, run_id, true);
    expect((await client().runs.get(thread_id, run_id)).status).toBe('interrupted');
    expect((await client().threads.get(thread_id)).status).toBe('interrupted');
  });

  it('keeps the order of runs on one thread', async () => {
    const { thread_id } = await client().threads.create();
    const names = ['a', 'b', 'c'];
    const created = [];
    for (const name of names)
      created.push(await client().runs.create(thread_id, 'slow', { input: { steps: 2, stepMs: 5, name } }));
    await client().runs.join(thread_id, created.at(-1)!.run_id);
    const { values } = await client().threads.getState<{ done: string[] }>(thread_id);
    expect(values.done).toEqual(['a:1', 'a:0', 'b:1', 'b:0', 'c:1', 'c:0']);
  });

  it('shares the store with graphs', async () => {
    await client().runs.wait(null, 'memory', { input: { remember: 'milk' } });
    const { items } = await client().store.searchItems(['notes']);
    expect(items).toMatchObject([{ key: 'milk', value: { text: 'milk' } }]);
  });
});
