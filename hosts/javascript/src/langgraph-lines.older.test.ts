import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  executionRequest,
  type HostUnderTest,
  memoryBackends,
  runToEnd,
  startHost,
  startRun,
  type TestBackends,
} from '../test/host-under-test.ts';
import { LINES, startLine } from '../test/line-project.ts';

type State = { [key: string]: unknown; metadata: Record<string, unknown>; tasks: Record<string, unknown>[] };
const id = expect.stringMatching(/^[0-9a-f]{32}$/);
const hi = { messages: [{ role: 'user', content: 'hi' }] };

describe.each(LINES)('with LangGraph %s', (version) => {
  let host: HostUnderTest;
  beforeAll(async () => {
    host = await startLine(version);
  });
  afterAll(() => host.close());
  const stateOf = async (graphId: string, threadId: string, backends: TestBackends, more = {}) =>
    (await host.getState({ graphId, threadId, ...more }, backends)) as State;

  it('a graph says which keys its input may have', async () => {
    const keys = await host.getInputKeys({ graphId: 'everything', config: { configurable: {} } });
    expect(keys).toEqual(['messages', 'parts']);
  });

  it('a run says which models it has called', async () => {
    const { usage } = await runToEnd(host, executionRequest('everything', { input: hi }));
    expect(usage.at(-1)?.models).toMatchObject([{ calls: 1, failed: 0 }]);
  });

  it('a graph has its store, sends, commands and messages, and streams them in every mode', async () => {
    const backends = memoryBackends();
    const modes = [
      'values',
      'updates',
      'messages-tuple',
      'messages',
      'custom',
      'tasks',
      'checkpoints',
      'debug',
      'events',
    ];
    const first = executionRequest('everything', { input: hi });
    expect((await runToEnd(host, first, backends)).values?.parts).toEqual(['1 at visit 1', 'a', 'b', 'decided']);
    const second = executionRequest('everything', { threadId: first.threadId, input: hi, streamModes: modes });
    const { events, outcome, values } = await runToEnd(host, second, backends);
    expect(outcome.kind).toBe('done');
    expect(values?.parts).toEqual(['1 at visit 1', 'a', 'b', 'decided', '3 at visit 2', 'a', 'b', 'decided']);
    const named = (name: string) => events.filter(({ event }) => event === name).map(({ data }) => data as never);
    expect(named('custom')).toEqual([{ visits: 2 }]);
    expect(named('updates')).toContainEqual({ decide: expect.objectContaining({ parts: ['decided'] }) });
    const chunks = named('messages') as [{ content: string; type: string }, { langgraph_node: string }][];
    expect(chunks.map(([{ content }]) => content).join('')).toContain('Hello');
    expect(named('messages/complete').length).toBeGreaterThan(0);
    const tasks = named('tasks') as { name: string; result?: unknown }[];
    expect(tasks.filter((task) => 'result' in task).map(({ name }) => name)).toEqual([
      'remember',
      'part',
      'part',
      'decide',
      'talk',
    ]);
    expect(tasks.filter((task) => !('result' in task))).toHaveLength(5);
    const checkpoints = named('checkpoints') as { next: string[]; config: { configurable: object } }[];
    expect(checkpoints.map(({ next }) => next)).toEqual([
      ['__start__'],
      ['remember'],
      ['part', 'part'],
      ['decide'],
      ['talk'],
      [],
    ]);
    expect(Object.keys(Object.assign({}, ...checkpoints.map(({ config }) => config.configurable)))).not.toContainEqual(
      expect.stringMatching(/^__/),
    );
    expect(named('debug').length).toBe(tasks.length + checkpoints.length);
    expect(named('events').length).toBeGreaterThan(10);
  });

  it('a run emits the events of the protocol that later lines make themselves', async () => {
    const request = executionRequest('everything', { input: hi, emitsProtocolEvents: true });
    const { events, outcome } = await runToEnd(host, request);
    expect(outcome.kind).toBe('done');
    type Emitted = { node?: string; data: Record<string, unknown> };
    const on = (channel: string) =>
      events.filter(({ event }) => event.split('|')[0] === channel).map(({ data }) => data as Emitted);
    expect(on('custom')).toMatchObject([{ data: { payload: { visits: 1 } } }]);
    expect(on('updates').map(({ node }) => node)).toEqual(['remember', 'part', 'part', 'decide', 'talk']);
    expect(on('values').at(-1)!.data).toMatchObject({ parts: ['1 at visit 1', 'a', 'b', 'decided'] });
    expect(on('checkpoints').map(({ data }) => data.source)).toEqual(['input', ...Array(5).fill('loop')]);
    const spoken = on('messages').map(({ data }) => data);
    expect(spoken[0]).toMatchObject({ event: 'message-start', role: 'ai', id: expect.any(String) });
    expect(spoken.at(-1)).toMatchObject({ event: 'message-finish' });
    const text = spoken.map(({ delta }) => (delta as { text?: string } | undefined)?.text ?? '').join('');
    expect(text).toBe('Hello');
    expect(on('lifecycle').map(({ data }) => data.event)).toEqual(['started', 'completed']);
    const asks = { input: { text: 'hi', asks: true }, emitsProtocolEvents: true };
    const waiting = await runToEnd(host, executionRequest('sub', asks));
    const requests = waiting.events.filter(({ event }) => event.startsWith('input.requested'));
    expect(requests).toMatchObject([{ data: { data: { interrupt_id: id, payload: 'go on?' } } }]);
  });

  it('interrupts have an id everywhere, and a subgraph that waits is shown in the state', async () => {
    const backends = memoryBackends();
    const modes = ['values', 'updates', 'tasks', 'checkpoints'];
    const request = executionRequest('sub', {
      input: { text: 'hi', asks: true },
      streamModes: modes,
      streamSubgraphs: true,
    });
    const { events, outcome, values } = await runToEnd(host, request, backends);
    const asked = [expect.objectContaining({ id, value: 'go on?', response_schema: null })];
    expect(values).toEqual({ text: 'hi', asks: true, __interrupt__: asked });
    expect(outcome).toMatchObject({ kind: 'done', next: ['child'], interrupts: expect.any(Object) });
    expect(events.filter(({ event }) => event === 'updates').at(-1)?.data).toEqual({ __interrupt__: asked });
    expect(events.filter(({ event }) => event === 'values').at(-1)?.data).toMatchObject({
      text: 'hi',
      __interrupt__: asked,
    });
    const state = await stateOf('sub', request.threadId, backends, { subgraphs: true });
    expect(state).toMatchObject({ next: ['child'], interrupts: [{ id, value: 'go on?' }] });
    expect(state.tasks).toMatchObject([{ interrupts: [{ id }], state: { next: ['inner'], values: { text: 'hi' } } }]);
    const answer = executionRequest('sub', {
      threadId: request.threadId,
      command: { resume: 'yes' },
      streamModes: modes,
      streamSubgraphs: true,
    });
    const answered = await runToEnd(host, answer, backends);
    expect(answered.values).toEqual({ text: 'hi yes', asks: true });
    expect(answered.events.some(({ event }) => event.startsWith('updates|child:'))).toBe(true);
  });

  it('a run stops before a node, goes on, and starts again from an older checkpoint', async () => {
    const backends = memoryBackends();
    const first = executionRequest('steps', { input: { until: 2 }, interruptBefore: ['step'] });
    const { threadId } = first;
    const stopped = await runToEnd(host, first, backends);
    expect(stopped.outcome).toMatchObject({ kind: 'done', next: ['step'] });
    expect(stopped.values).toEqual({ until: 2, __interrupt__: [] });
    expect((await runToEnd(host, executionRequest('steps', { threadId }), backends)).values).toEqual({
      count: 2,
      until: 2,
    });
    const history = (await host.getHistory({ graphId: 'steps', threadId, limit: 10 }, backends)) as State[];
    expect(history.map(({ metadata }) => [metadata.source, metadata.step, metadata.writes])).toEqual([
      ['loop', 2, { step: { count: 2 } }],
      ['loop', 1, { step: { count: 1 } }],
      ['loop', 0, {}],
      ['input', -1, { __start__: { until: 2 } }],
    ]);
    const older = { configurable: { checkpoint_id: history[1]!.checkpoint_id } };
    const again = await runToEnd(host, executionRequest('steps', { threadId, config: older as never }), backends);
    expect(again.values).toEqual({ count: 2, until: 2 });
    await host.updateState({ graphId: 'steps', threadId, values: { until: 4 }, asNode: 'step' }, backends);
    expect((await stateOf('steps', threadId, backends)).next).toEqual(['step']);
    expect((await runToEnd(host, executionRequest('steps', { threadId }), backends)).values).toEqual({
      count: 4,
      until: 4,
    });
  });

  it('tasks of the functional API are not repeated with the answer to its question', async () => {
    const backends = memoryBackends();
    const first = executionRequest('functional', { input: { number: 1 } });
    const asked = await runToEnd(host, first, backends);
    expect(asked.values).toMatchObject({ __interrupt__: [{ id, value: 'keep 6?' }] });
    const answer = executionRequest('functional', { threadId: first.threadId, command: { resume: false } });
    expect((await runToEnd(host, answer, backends)).values).toEqual({ sum: 6, answer: false });
    const doubled = host.logs.filter(({ message }) => message.startsWith('doubling')).map(({ message }) => message);
    expect(doubled.sort()).toEqual(['doubling 1', 'doubling 2']);
  });

  it('a run that is drained goes on from its last checkpoint, and its code sees an abort', async () => {
    const backends = memoryBackends();
    const request = executionRequest('slow', { input: {} });
    const logged = (text: string) => host.nextLog(({ message }) => message === text);
    let waits = logged('tool waits');
    const drained = startRun(host, request, backends);
    await waits;
    drained.drain();
    expect(await drained.settled).toEqual({ kind: 'drained' });
    waits = logged('tool waits');
    const saw = logged('tool saw the abort');
    const aborted = startRun(host, { ...request, attempt: 2 }, backends);
    await waits;
    aborted.abort('enough');
    expect(await aborted.settled).toMatchObject({ kind: 'aborted' });
    await saw;
    const state = await stateOf('slow', request.threadId, backends);
    expect([state.values, state.next]).toEqual([{ seen: ['first'] }, ['wait']]);
  });

  it('supersteps make a history, and a graph can be drawn', async () => {
    const backends = memoryBackends();
    const supersteps = [
      { updates: [{ values: { topic: 'tea' }, as_node: '__input__' }] },
      { updates: [{ values: { topic: 'tea' }, as_node: '__start__' }] },
      { updates: [{ values: { answers: ['x', 'y'] }, as_node: 'ask' }] },
    ];
    await host.updateState({ graphId: 'hitl', threadId: 'T', supersteps }, backends);
    expect(await stateOf('hitl', 'T', backends)).toMatchObject({
      next: ['finish'],
      values: { topic: 'tea', answers: ['x', 'y'] },
    });
    const drawing = await host.drawGraph({ graphId: 'hitl', config: {}, xray: false } as never);
    expect(JSON.stringify(drawing)).toContain('"finish"');
  });

  it('schemas of a graph and of its subgraphs are read', async () => {
    const look = { graphId: 'sub', config: { configurable: {} }, sourceTimeoutMs: 60_000 };
    const state = { properties: { text: { type: 'string' }, asks: { type: 'boolean' } } };
    expect(await host.getSchemas(look)).toMatchObject({ input_schema: state, state_schema: state });
    const subgraphs = await host.getSubgraphs({ ...look, recurse: true });
    expect(subgraphs).toMatchObject({ child: { state_schema: state } });
  });
});

it('a thread goes on with a newer LangGraph, and back', async () => {
  const hosts = { old: await startLine('0.2.57'), current: await startHost('lines') };
  try {
    const backends = memoryBackends();
    const { threadId } = executionRequest('everything');
    const ends = [];
    for (const host of [hosts.old, hosts.current, hosts.old]) {
      ends.push(await runToEnd(host, executionRequest('everything', { threadId, input: hi }), backends));
    }
    const parts = [1, 2, 3].flatMap((visit) => [`${2 * visit - 1} at visit ${visit}`, 'a', 'b', 'decided']);
    expect(ends.map(({ values }) => values?.parts)).toEqual([4, 8, 12].map((count) => parts.slice(0, count)));
    const history = await hosts.old.getHistory({ graphId: 'everything', threadId, limit: 30 }, backends);
    expect(history).toHaveLength(18);
  } finally {
    await hosts.old.close();
    await hosts.current.close();
  }
});
