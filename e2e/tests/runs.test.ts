import { describe, expect, it } from 'vitest';
import { collectEvents, newClient } from '../harness/client.ts';

const client = newClient();

describe('a run on a thread', () => {
  it('streams several modes at once, tokens among them, and leaves the final state on the thread', async () => {
    const thread = await client.threads.create();
    const events = await collectEvents(
      client.runs.stream(thread.thread_id, 'chat', {
        input: { messages: [{ role: 'user', content: 'hello' }] },
        streamMode: ['values', 'updates', 'messages-tuple', 'custom', 'debug'],
      }),
    );
    const names = events.map((event) => event.event);
    expect(names[0]).toBe('metadata');
    expect(events[0]?.data).toMatchObject({ run_id: expect.any(String), attempt: 1 });
    expect(new Set(names)).toEqual(new Set(['metadata', 'values', 'updates', 'messages', 'custom', 'debug']));

    const tokens = events
      .filter((event) => event.event === 'messages')
      .map((event) => (event.data as [{ content: string }])[0]);
    expect(tokens.length).toBeGreaterThan(10);
    expect(tokens.map((token) => token.content).join('')).toContain('The quick brown fox jumps over the lazy dog.');
    expect(events.find((event) => event.event === 'custom')?.data).toEqual({ progress: 'thinking' });

    const state = await client.threads.getState<{ messages: { content: string; type: string }[] }>(thread.thread_id);
    expect(state.values.messages.map((message) => [message.type, message.content])).toEqual([
      ['human', 'hello'],
      ['ai', 'The quick brown fox jumps over the lazy dog.'],
    ]);
    expect(state.next).toEqual([]);
  });

  it('accumulates message text in the messages mode', async () => {
    const thread = await client.threads.create();
    const events = await collectEvents(
      client.runs.stream(thread.thread_id, 'chat', {
        input: { messages: [{ role: 'user', content: 'hello' }] },
        streamMode: 'messages',
      }),
    );
    const partials = events.filter((event) => (event.event as string) === 'messages/partial');
    expect(partials.at(-1)?.data).toMatchObject([{ content: 'The quick brown fox jumps over the lazy dog.' }]);
    expect(events.some((event) => (event.event as string) === 'messages/metadata')).toBe(true);
  });

  it('names the callback events of the events mode', async () => {
    const thread = await client.threads.create();
    const events = await collectEvents(
      client.runs.stream(thread.thread_id, 'chat', {
        input: { messages: [{ role: 'user', content: 'hello' }] },
        streamMode: 'events',
      }),
    );
    const kinds = events
      .filter((event) => event.event === 'events')
      .map((event) => (event.data as { event: string }).event);
    expect(kinds).toContain('on_chain_start');
    expect(kinds).toContain('on_chat_model_stream');
  });

  it('marks the events of a subgraph with its namespace on request', async () => {
    const thread = await client.threads.create();
    const events = await collectEvents(
      client.runs.stream(thread.thread_id, 'family', {
        input: { text: 'hey' },
        streamMode: ['values', 'updates'],
        streamSubgraphs: true,
      }),
    );
    const nested = events.filter((event) => /^updates\|child:[0-9a-f-]+$/.test(event.event));
    expect(nested.map((event) => event.data)).toEqual([{ shout: { text: 'hey!' } }]);
  });

  it('answers wait with the final values', async () => {
    const thread = await client.threads.create();
    const values = await client.runs.wait(thread.thread_id, 'family', { input: { text: 'hey' } });
    expect(values).toEqual({ text: 'hey!' });
  });

  it('stops at an interrupt, shows it on state and thread, and continues when resumed', async () => {
    const thread = await client.threads.create();
    const first = await client.runs.wait(thread.thread_id, 'approval', { input: { request: 'open the door' } });
    expect(first).toMatchObject({ __interrupt__: [{ value: { question: 'May I open the door?' } }] });

    const state = await client.threads.getState(thread.thread_id);
    expect(state.next).toEqual(['ask']);
    expect(state.tasks[0]?.interrupts[0]?.value).toEqual({ question: 'May I open the door?' });
    const waiting = await client.threads.get(thread.thread_id);
    expect(waiting.status).toBe('interrupted');
    expect(Object.values(waiting.interrupts).flat()).toMatchObject([{ value: { question: 'May I open the door?' } }]);

    const second = await client.runs.wait(thread.thread_id, 'approval', { command: { resume: 'yes' } });
    expect(second).toMatchObject({ log: ['prepared open the door', 'heard yes', 'did open the door'] });
    expect((await client.threads.get(thread.thread_id)).status).toBe('idle');

    const history = await client.threads.getHistory(thread.thread_id, { limit: 20 });
    expect(history.map((entry) => entry.next)).toEqual([[], ['act'], ['ask'], ['prepare'], ['__start__']]);
  });

  it('reports a failing graph without the secrets in its message, and keeps the error on the thread', async () => {
    const thread = await client.threads.create();
    const events = await collectEvents(client.runs.stream(thread.thread_id, 'boom', { input: { heat: 1 } }));
    const error = events.find((event) => event.event === 'error')?.data as { error: string; message: string };
    expect(error.error).toBe('KettleError');
    expect(error.message).not.toContain('hunter2');
    expect(error.message).not.toContain('db.internal');
    expect((await client.threads.get(thread.thread_id)).status).toBe('error');
    const [run] = await client.runs.list(thread.thread_id);
    expect(run?.status).toBe('error');
  });

  it('shares the long-term store between threads', async () => {
    for (const note of ['buy milk', 'water plants']) {
      const thread = await client.threads.create();
      await client.runs.wait(thread.thread_id, 'memory', { input: { remember: note } });
    }
    const thread = await client.threads.create();
    const values = await client.runs.wait(thread.thread_id, 'memory', { input: { remember: 'call home' } });
    expect(values).toMatchObject({ recalled: ['buy milk', 'call home', 'water plants'] });
  });
});

describe('two runs on one thread', () => {
  it('keep the order in which they were accepted', async () => {
    const thread = await client.threads.create();
    const started = [];
    for (const name of ['first', 'second', 'third'])
      started.push(
        await client.runs.create(thread.thread_id, 'slow', {
          input: { name, steps: 2, stepMs: 30 },
          multitaskStrategy: 'enqueue',
        }),
      );
    const last = await client.runs.join(thread.thread_id, started.at(-1)?.run_id ?? '');
    expect(last).toMatchObject({ done: ['first:1', 'first:0', 'second:1', 'second:0', 'third:1', 'third:0'] });
  });

  it('are refused when the client requested that', async () => {
    const thread = await client.threads.create();
    const run = await client.runs.create(thread.thread_id, 'slow', {
      input: { name: 'a', steps: 100_000, stepMs: 20 },
      config: { recursion_limit: 200_000 },
    });
    await expect(
      client.runs.create(thread.thread_id, 'slow', {
        input: { name: 'b', steps: 1, stepMs: 1 },
        multitaskStrategy: 'reject',
      }),
    ).rejects.toMatchObject({ status: 409 });
    await client.runs.cancel(thread.thread_id, run.run_id, true);
  });
});

describe('a run without a thread', () => {
  it('answers wait with its values', async () => {
    const values = await client.runs.wait(null, 'echo', { input: { messages: [{ role: 'user', content: 'hi' }] } });
    expect((values as { messages: { content: string }[] }).messages.at(-1)?.content).toBe('echo: hi');
  });

  it('streams its events', async () => {
    const events = await collectEvents(
      client.runs.stream(null, 'echo', {
        input: { messages: [{ role: 'user', content: 'hi' }] },
        streamMode: ['values', 'updates'],
      }),
    );
    expect(events.map((event) => event.event)).toEqual(['metadata', 'values', 'updates', 'values']);
  });
});
