import { afterAll, beforeAll, expect, it } from 'vitest';
import { executionRequest, type HostUnderTest, memoryBackends, runToEnd, startHost } from '../test/host-under-test.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host.close());

const hi = { messages: [{ role: 'user', content: 'hi' }] };
const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);

async function streamed(graphId: string, streamModes: string[], more: Parameters<typeof executionRequest>[1] = {}) {
  const { events, outcome } = await runToEnd(host, executionRequest(graphId, { input: hi, streamModes, ...more }));
  expect(outcome).toMatchObject({ kind: 'done' });
  return events;
}

it('mode values streams the full state after the input and after each step', async () => {
  const events = await streamed('echo', ['values']);
  expect(events).toEqual([
    { event: 'values', data: { messages: [expect.objectContaining({ type: 'human', content: 'hi', id: uuid })] } },
    {
      event: 'values',
      data: { messages: [expect.anything(), expect.objectContaining({ type: 'ai', content: 'echo: hi', id: uuid })] },
    },
  ]);
});

it('mode updates streams what each node wrote', async () => {
  const events = await streamed('echo', ['updates']);
  expect(events).toEqual([
    { event: 'updates', data: { echo: { messages: [expect.objectContaining({ type: 'ai', content: 'echo: hi' })] } } },
  ]);
});

it('mode messages-tuple streams chunks of messages with their metadata', async () => {
  const events = await streamed('tokens', ['messages-tuple']);
  expect(events.length).toBeGreaterThan(2);
  expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['messages']));
  const pieces = events.map(({ data }) => data as [Record<string, unknown>, Record<string, unknown>]);
  expect(pieces.map(([message]) => message.content).join('')).toBe('Hello there');
  const [message, metadata] = pieces[0] as (typeof pieces)[0];
  expect(message).toMatchObject({ type: 'AIMessageChunk', tool_call_chunks: [], id: expect.any(String) });
  expect(metadata).toMatchObject({
    created_by: 'system',
    assistant_id: '00000000-0000-5000-8000-000000000001',
    graph_id: 'tokens',
    thread_id: uuid,
    run_id: uuid,
    run_attempt: 1,
    langgraph_version: expect.stringMatching(/^\d+\./),
    langgraph_api_version: expect.any(String),
    langgraph_plan: expect.any(String),
    langgraph_host: expect.any(String),
    langgraph_api_url: null,
    ls_integration: expect.any(String),
    langgraph_step: 1,
    langgraph_node: 'talk',
    langgraph_triggers: expect.any(Array),
    langgraph_path: expect.any(Array),
    langgraph_checkpoint_ns: expect.stringMatching(/^talk:/),
  });
});

it('mode messages-tuple adds args to every chunk of a tool call, also to a first one with only the name', async () => {
  const events = await streamed('calls', ['messages-tuple', 'events']);
  const pieces = events.filter(({ event }) => event === 'messages').map(({ data }) => (data as [object])[0]);
  const call = { index: 0, type: 'tool_call_chunk' };
  const chunks = [
    [{ ...call, name: 'weather', id: 'call_1', args: '' }],
    [{ ...call, args: '{"city":' }],
    [{ ...call, args: '"Oslo"}' }],
  ];
  expect(pieces).toMatchObject(chunks.map((tool_call_chunks) => ({ type: 'AIMessageChunk', tool_call_chunks })));
  const reported = events.map(({ data }) => data as { event: string; data: { chunk: object } });
  expect(reported.filter(({ event }) => event === 'on_chat_model_stream').map(({ data }) => data.chunk)).toEqual(
    pieces,
  );
});

it('mode messages sends metadata once, then the message so far, then the whole message when it is in the state', async () => {
  const events = await streamed('tokens', ['messages', 'values']);
  const partials = events.filter(({ event }) => event === 'messages/partial');
  expect(events.map(({ event }) => event)).toEqual([
    'values',
    'messages/complete',
    'messages/metadata',
    ...partials.map(({ event }) => event),
    'values',
    'messages/complete',
  ]);
  const id = Object.keys(events[2]!.data as object)[0];
  expect(events[1]?.data).toEqual([expect.objectContaining({ type: 'human', content: 'hi' })]);
  expect(events[2]?.data).toEqual({
    [id as string]: { metadata: expect.objectContaining({ langgraph_node: 'talk' }) },
  });
  expect(partials.at(-1)?.data).toEqual([expect.objectContaining({ id, type: 'ai', content: 'Hello there' })]);
  expect(partials.at(-1)?.data).not.toEqual([expect.objectContaining({ tool_call_chunks: expect.anything() })]);
  expect(events.at(-1)?.data).toEqual([expect.objectContaining({ id, type: 'ai', content: 'Hello there' })]);
});

it('mode messages sends messages that were not streamed whole, and the earlier ones of the thread with the first', async () => {
  const backends = memoryBackends();
  const whole = async (content: string) => {
    const input = { messages: [{ role: 'user', content }] };
    const request = executionRequest('echo', { threadId: 'T', input, streamModes: ['messages'] });
    const { events } = await runToEnd(host, request, backends);
    expect(events.map(({ event }) => event)).toEqual(['messages/complete', 'messages/metadata', 'messages/complete']);
    const complete = events.filter(({ event }) => event === 'messages/complete');
    return complete.map(({ data }) => (data as { content: string }[]).map((message) => message.content));
  };
  expect(await whole('hi')).toEqual([['hi'], ['echo: hi']]);
  expect(await whole('you')).toEqual([['hi', 'echo: hi', 'you'], ['echo: you']]);
});

it('mode messages completes each message once, also in a subgraph and when the state does not keep it', async () => {
  for (const streamSubgraphs of [false, true]) {
    const events = await streamed('aside', ['messages'], { streamSubgraphs });
    const named = events.map(({ event, data }) => [event.replace(/[0-9a-f-]{36}/, 'UUID'), data] as const);
    const completed = named.filter(([event]) => event.startsWith('messages/complete'));
    const contents = completed.map(([event, data]) => [event, (data as { content: string }[]).map((m) => m.content)]);
    expect(contents).toEqual([
      ['messages/complete', ['hi']],
      [streamSubgraphs ? 'messages/complete|inside:UUID' : 'messages/complete', ['kept', 'aside']],
      ['messages/complete', ['last words']],
    ]);
  }
});

it('mode custom streams what the writer was given, unchanged', async () => {
  expect(await streamed('tokens', ['custom'])).toEqual([{ event: 'custom', data: { progress: 1 } }]);
});

it('mode tasks sends a start and an end of each task, with the same fields as a JavaScript server', async () => {
  const events = await streamed('echo', ['tasks']);
  expect(events).toEqual([
    {
      event: 'tasks',
      data: {
        id: uuid,
        name: 'echo',
        input: expect.anything(),
        triggers: ['branch:to:echo'],
        interrupts: [],
        metadata: expect.objectContaining({ run_attempt: 1 }),
      },
    },
    {
      event: 'tasks',
      data: { id: uuid, name: 'echo', error: null, result: { messages: [expect.anything()] }, interrupts: [] },
    },
  ]);
});

it('modes tasks and debug report the error of a failed task, with and without checkpoints', async () => {
  for (const backends of [memoryBackends(), { store: memoryBackends().store }]) {
    const request = executionRequest('boom', { input: { how: 'own class' }, streamModes: ['tasks', 'debug'] });
    const { events } = await runToEnd(host, request, backends);
    const error = { error: 'OutOfStock', message: 'no more apples' };
    expect(events.filter(({ event }) => event === 'tasks').at(-1)?.data).toMatchObject({ name: 'boom', error });
    expect(events.filter(({ event }) => event === 'debug').at(-1)?.data).toMatchObject({
      type: 'task_result',
      payload: { name: 'boom', error },
    });
  }
});

it('mode tasks does not report an interrupt as an error', async () => {
  const ends = (await streamed('hitl', ['tasks'], { input: { topic: 'tea' } })).map(({ data }) => data);
  expect(ends.at(-1)).toMatchObject({ name: 'ask', error: null, interrupts: [expect.anything()] });
});

it('mode checkpoints sends each checkpoint, without internal or caller values in its config', async () => {
  const events = await streamed('echo', ['checkpoints'], {
    config: { configurable: { tone: 'kind', langgraph_auth_user: { identity: 'me', token: 'secret' } } },
  });
  expect(events).toHaveLength(3);
  expect(events[2]?.data).toEqual({
    config: expect.objectContaining({
      configurable: expect.objectContaining({ thread_id: uuid, checkpoint_id: uuid, checkpoint_ns: '', tone: 'kind' }),
    }),
    parent_config: expect.objectContaining({ configurable: expect.objectContaining({ checkpoint_id: uuid }) }),
    values: { messages: [expect.anything(), expect.anything()] },
    metadata: { source: 'loop', step: 1, parents: {} },
    next: [],
    tasks: [],
  });
  expect(JSON.stringify(events)).not.toMatch(/__pregel_checkpointer|langgraph_auth_user|secret/);
});

it('mode debug sends steps with tasks, results and checkpoints', async () => {
  const events = await streamed('echo', ['debug']);
  const chunks = events.map(({ data }) => data as { type: string; step: number; timestamp: string; payload: object });
  expect(chunks.map(({ type, step }) => [type, step])).toEqual([
    ['checkpoint', -1],
    ['checkpoint', 0],
    ['task', 1],
    ['task_result', 1],
    ['checkpoint', 1],
  ]);
  expect(chunks[4]?.payload).toMatchObject({
    checkpoint: { checkpoint_id: uuid, thread_id: uuid, checkpoint_ns: '' },
    parent_checkpoint: { checkpoint_id: uuid, thread_id: uuid, checkpoint_ns: '' },
  });
});

it("modes checkpoints and debug name the checkpoint of a subgraph's task, and no state", async () => {
  const events = await streamed('sub', ['checkpoints', 'debug'], { input: { text: 'hi' } });
  const snapshots = events.map(({ event, data }) => (event === 'debug' ? (data as { payload: object }).payload : data));
  const tasks = snapshots.flatMap((snapshot) => (snapshot as { tasks?: { name: string }[] }).tasks ?? []);
  const ofChild = tasks.filter(({ name }) => name === 'child');
  const checkpoint = { thread_id: uuid, checkpoint_ns: expect.stringMatching(/^child:/) };
  expect(ofChild).toHaveLength(2);
  const path = ['__pregel_pull', 'child'];
  for (const task of ofChild) {
    expect(task).toEqual({ id: uuid, name: 'child', path, interrupts: [], checkpoint, state: null, error: null });
  }
  const others = tasks.filter(({ name }) => name !== 'child');
  expect(others.length).toBeGreaterThan(0);
  for (const task of others) expect(task).toMatchObject({ checkpoint: null, state: null });
});

it('mode tools sends the calls, progress, results and errors of tools', async () => {
  const from = { input: { from: 2 } };
  const input = '{"from":2}';
  const events = await streamed('tools', ['tools'], from);
  const count = { toolCallId: 'call_1', name: 'count' };
  const fail = { toolCallId: 'call_2', name: 'fail' };
  const told = [
    { event: 'on_tool_start', ...count, input },
    { event: 'on_tool_event', ...count, data: { left: 2 } },
    { event: 'on_tool_event', ...count, data: { left: 1 } },
    { event: 'on_tool_end', ...count, output: expect.objectContaining({ type: 'tool', content: 'lift-off' }) },
    { event: 'on_tool_start', ...fail, input },
    { event: 'on_tool_error', ...fail, error: { error: 'RangeError', message: 'nothing to count' } },
    { event: 'on_tool_start', name: 'circle', input },
    // The result has no JSON form.
    { event: 'on_tool_end', name: 'circle' },
  ];
  expect(events).toEqual(told.map((data) => ({ event: 'tools', data })));
  const [first] = await streamed('tools', ['tools'], { ...from, streamSubgraphs: true });
  expect(first?.event).toMatch(/^tools\|use:[0-9a-f-]{36}$/);
});

it('mode events sends what runnables report, with their usual keys, beside other modes', async () => {
  const events = await streamed('tokens', ['events', 'values']);
  const reported = events.filter(({ event }) => event === 'events').map(({ data }) => data as Record<string, unknown>);
  const names = reported.map(({ event }) => event);
  for (const name of [
    'on_chain_start',
    'on_chat_model_start',
    'on_chat_model_stream',
    'on_chat_model_end',
    'on_chain_end',
  ]) {
    expect(names).toContain(name);
  }
  expect(Object.keys(reported[0] as object).sort()).toEqual([
    'data',
    'event',
    'metadata',
    'name',
    'parent_ids',
    'run_id',
    'tags',
  ]);
  expect(events.filter(({ event }) => event === 'values')).toHaveLength(2);
});

it('a run streams the requested modes, in the order in which the graph emitted the events', async () => {
  const events = await streamed('tokens', ['values', 'updates', 'messages-tuple', 'custom']);
  const order = events.map(({ event }) => event).filter((event, index, all) => event !== all[index - 1]);
  expect(order).toEqual(['values', 'custom', 'messages', 'updates', 'values']);
});

it('events of subgraphs name their namespace, and are only sent on request', async () => {
  const input = { text: 'hi' };
  const events = await streamed('sub', ['values', 'updates'], { input, streamSubgraphs: true });
  const names = new Set(events.map(({ event }) => event.replace(/[0-9a-f-]{36}/, 'UUID')));
  expect(names).toEqual(new Set(['values', 'updates', 'values|child:UUID', 'updates|child:UUID']));
  const silent = await streamed('sub', ['values', 'updates'], { input });
  expect(new Set(silent.map(({ event }) => event))).toEqual(new Set(['values', 'updates']));
});

it('modes values and updates show an interrupt, with the values so far', async () => {
  const backends = memoryBackends();
  const request = executionRequest('hitl', { input: { topic: 'tea' }, streamModes: ['values', 'updates'] });
  const { events, outcome, values } = await runToEnd(host, request, backends);
  const interrupt = { value: { question: 'tea?' }, id: expect.stringMatching(/^[0-9a-f]{32}$/), response_schema: null };
  expect(events.slice(-2)).toEqual([
    { event: 'updates', data: { __interrupt__: [interrupt] } },
    { event: 'values', data: { topic: 'tea', __interrupt__: [interrupt] } },
  ]);
  expect(values).toEqual({ topic: 'tea', __interrupt__: [interrupt] });
  expect(outcome).toMatchObject({ kind: 'done', next: ['ask'] });
  const byTask = JSON.parse(Buffer.from((outcome as { interrupts: Uint8Array }).interrupts).toString('utf8'));
  expect(Object.values(byTask)).toEqual([[{ value: { question: 'tea?' }, id: interrupt.id }]]);
});
