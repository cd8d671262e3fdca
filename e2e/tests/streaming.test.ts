import type { StreamMode } from '@langchain/langgraph-sdk';
import { describe, expect, it } from 'vitest';
import { collectEvents, newClient, type SdkEvent } from '../harness/client.ts';

const client = newClient();
const hi = { messages: [{ role: 'user', content: 'hi' }] };
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);

interface Options {
  input?: Record<string, unknown>;
  streamSubgraphs?: boolean;
}

async function streamed(graph: string, streamMode: StreamMode[], { input = hi, ...more }: Options = {}) {
  const thread = await client.threads.create();
  const events = await collectEvents(client.runs.stream(thread.thread_id, graph, { input, streamMode, ...more }));
  expect(events[0]).toMatchObject({ event: 'metadata', data: { run_id: uuid, attempt: 1 } });
  return events.slice(1);
}

const names = (events: SdkEvent[]) => events.map(({ event }) => event.replace(/[0-9a-f-]{36}/, 'UUID'));
const ofKind = (events: SdkEvent[], kind: string) =>
  // biome-ignore lint/suspicious/noExplicitAny: events of every shape are looked into.
  events.filter(({ event }) => event === kind).map(({ data }) => data as any);

describe('each stream mode', () => {
  it('values: the state after the input and after each step', async () => {
    const events = ofKind(await streamed('echo', ['values']), 'values');
    expect(events.map(({ messages }) => messages.map((message: { content: string }) => message.content))).toEqual([
      ['hi'],
      ['hi', 'echo: hi'],
    ]);
  });

  it('updates, with the question of an interrupt', async () => {
    const events = await streamed('approval', ['updates', 'values'], { input: { request: 'go' } });
    const question = [{ id: expect.any(String), value: { question: 'May I go?' }, response_schema: null }];
    expect(ofKind(events, 'updates')).toEqual([{ prepare: { log: ['prepared go'] } }, { __interrupt__: question }]);
    expect(ofKind(events, 'values').at(-1)).toEqual({
      request: 'go',
      log: ['prepared go'],
      __interrupt__: question,
    });
  });

  it('messages-tuple: tokens and pieces of tool calls, each with where it comes from', async () => {
    const pieces = ofKind(await streamed('weather', ['messages-tuple']), 'messages');
    const calls = pieces.flatMap(([message]) => message.tool_call_chunks ?? []);
    expect(calls[0]).toMatchObject({ name: 'weather', id: 'call_1', args: '' });
    expect(calls.map(({ args }) => args).join('')).toBe('{"city":"Oslo"}');
    const said = pieces.filter(([message]) => message.type === 'AIMessageChunk').map(([message]) => message.content);
    expect(said.join('')).toBe('It rains in Oslo.');
    for (const [, metadata] of pieces) {
      expect(metadata).toMatchObject({
        created_by: 'system',
        assistant_id: uuid,
        run_attempt: 1,
        langgraph_version: expect.any(String),
        langgraph_api_version: expect.any(String),
        langgraph_plan: expect.any(String),
        langgraph_host: expect.any(String),
        langgraph_api_url: expect.stringMatching(/^http.*\/deployments\/[0-9a-f-]{36}$/),
        thread_id: uuid,
        graph_id: 'weather',
        run_id: uuid,
        ls_integration: expect.any(String),
        langgraph_step: expect.any(Number),
        langgraph_node: expect.stringMatching(/^(model|tools)$/),
        langgraph_triggers: expect.any(Array),
        langgraph_path: expect.any(Array),
        langgraph_checkpoint_ns: expect.stringMatching(/^(model|tools):/),
      });
    }
  });

  it('messages: metadata once, what has come so far, and each message whole in the end, as JavaScript servers do', async () => {
    const events = await streamed('weather', ['messages', 'values']);
    const order = names(events).filter((name, index, all) => name !== all[index - 1]);
    expect(order).toEqual([
      ...['values', 'messages/complete'],
      ...['messages/metadata', 'messages/partial', 'values', 'messages/complete'],
      ...['messages/metadata', 'values', 'messages/complete'],
      ...['messages/metadata', 'messages/partial', 'values', 'messages/complete'],
    ]);
    const whole = { type: 'ai', content: 'It rains in Oslo.' };
    expect(ofKind(events, 'messages/partial').at(-1)).toMatchObject([whole]);
    expect(ofKind(events, 'messages/complete')).toMatchObject([
      [{ type: 'human', content: 'hi' }],
      [{ type: 'ai', tool_calls: [{ name: 'weather', args: { city: 'Oslo' } }] }],
      [{ type: 'tool', content: 'It rains in Oslo.' }],
      [whole],
    ]);
  });

  it('events: what runnables report', async () => {
    const reported = ofKind(await streamed('weather', ['events']), 'events').map(({ event }) => event);
    expect(new Set(reported)).toEqual(
      new Set([
        'on_chain_start',
        'on_chain_end',
        'on_chat_model_start',
        'on_chat_model_stream',
        'on_chat_model_end',
        'on_tool_start',
        'on_tool_end',
      ]),
    );
  });

  it('tasks, checkpoints and debug: the steps of the graph', async () => {
    const events = await streamed('echo', ['tasks', 'checkpoints', 'debug']);
    expect(ofKind(events, 'tasks')).toMatchObject([
      { id: uuid, name: 'echo', input: {}, triggers: ['branch:to:echo'], interrupts: [], metadata: {} },
      { id: uuid, name: 'echo', error: null, result: {}, interrupts: [] },
    ]);
    expect(ofKind(events, 'checkpoints').at(-1)).toMatchObject({
      config: { configurable: { thread_id: uuid, checkpoint_id: uuid, checkpoint_ns: '' } },
      parent_config: { configurable: { checkpoint_id: uuid } },
      values: { messages: [{ content: 'hi' }, { content: 'echo: hi' }] },
      metadata: { source: 'loop', step: 1, parents: {} },
      next: [],
      tasks: [],
    });
    expect(ofKind(events, 'debug').map(({ type, step }) => [type, step])).toEqual([
      ['checkpoint', -1],
      ['checkpoint', 0],
      ['task', 1],
      ['task_result', 1],
      ['checkpoint', 1],
    ]);
  });

  it('custom: what the graph writes itself, in its place among the others', async () => {
    const events = await streamed('chat', ['custom', 'messages-tuple', 'updates', 'values']);
    expect(ofKind(events, 'custom')).toEqual([{ progress: 'thinking' }]);
    const order = names(events).filter((name, index, all) => name !== all[index - 1]);
    expect(order).toEqual(['values', 'custom', 'messages', 'updates', 'values']);
  });

  it('a run that keeps no thread streams no checkpoints, unless its thread is kept', async () => {
    const streamMode: StreamMode[] = ['checkpoints', 'debug'];
    const gone = await collectEvents(client.runs.stream(null, 'echo', { input: hi, streamMode }));
    expect(gone.map(({ event, data }) => (data as { type?: string }).type ?? event)).toEqual([
      'metadata',
      'task',
      'task_result',
    ]);
    const keeping = { input: hi, streamMode, onCompletion: 'keep' };
    const kept = await collectEvents(client.runs.stream(null, 'echo', keeping));
    expect(names(kept).filter((name) => name === 'checkpoints')).toHaveLength(3);
  });

  it('a failure is an event of its own and names no inner host', async () => {
    const events = await streamed('boom', ['values', 'tasks', 'debug'], { input: { heat: 1 } });
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { error: 'KettleError', message: /cannot reach/ } });
    expect(JSON.stringify(events)).not.toMatch(/hunter2|db\.internal/);
  });
});

describe('subgraphs', () => {
  it('stream their events in every mode, named by their namespace', async () => {
    const modes: StreamMode[] = ['values', 'updates', 'messages', 'messages-tuple', 'tasks', 'checkpoints', 'debug'];
    const events = await streamed('office', modes, { streamSubgraphs: true });
    const inner = new Set(names(events).filter((name) => name.endsWith('|desk:UUID')));
    const kinds = ['values', 'updates', 'messages', 'tasks', 'checkpoints', 'debug'];
    expect(inner).toEqual(
      new Set(
        [...kinds, ...['metadata', 'partial', 'complete'].map((part) => `messages/${part}`)].map(
          (kind) => `${kind}|desk:UUID`,
        ),
      ),
    );
  });

  it('are silent unless requested', async () => {
    const events = await streamed('family', ['values', 'updates', 'tasks'], { input: { text: 'hi' } });
    expect(names(events).filter((name) => name.includes('|'))).toEqual([]);
  });
});

describe('a stream that is cut', () => {
  it('is resumed by the SDK itself: every event comes once', async () => {
    const cuts = [600];
    const thread = await client.threads.create();
    const stream = newClient({ fetch: cutting(cuts) }).runs.stream(thread.thread_id, 'slow', {
      input: { name: 'cut', steps: 12, stepMs: 25 },
      streamMode: ['updates'],
      streamResumable: true,
    });
    const events = await collectEvents(stream);
    expect(cuts).toEqual([]);
    const steps = ofKind(events, 'updates').map(({ step }) => step.done[0]);
    expect(steps).toEqual(Array.from({ length: 12 }, (_, step) => `cut:${11 - step}`));
  });
});

/**
 * Wraps fetch so that event streams break off, each after the next number of bytes, until there are no more; they are
 * used up.
 */
function cutting(cuts: number[]): typeof fetch {
  return async (...request) => {
    const response = await fetch(...request);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const limit = cuts.shift();
    if (limit === undefined) return response;
    let passed = 0;
    const body = response.body!.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          controller.enqueue(chunk);
          passed += chunk.byteLength;
          if (passed > limit) controller.error(new TypeError('terminated'));
        },
      }),
    );
    return new Response(body, response);
  };
}
