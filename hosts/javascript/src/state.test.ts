import { randomUUID } from 'node:crypto';
import { BackendError } from '@runyard/checkpointer';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  executionRequest,
  type HostUnderTest,
  memoryBackends,
  runToEnd,
  startHost,
  type TestBackends,
} from '../test/host-under-test.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost('basic');
});
afterAll(() => host.close());

type State = { [key: string]: unknown; metadata: Record<string, unknown>; tasks: Record<string, unknown>[] };
const stateOf = async (graphId: string, threadId: string, backends: TestBackends, more = {}) =>
  (await host.getState({ graphId, threadId, ...more }, backends)) as State;
const historyOf = async (graphId: string, threadId: string, backends: TestBackends, more = {}) =>
  (await host.getHistory({ graphId, threadId, limit: 10, ...more }, backends)) as State[];

const asWire = (state: unknown): unknown => JSON.parse(JSON.stringify(state));

/** Runs a graph that asks twice to its end, and returns its thread. */
async function runWithTwoAnswers(backends: TestBackends): Promise<string> {
  const request = executionRequest('hitl', { input: { topic: 'tea' } });
  const { threadId } = request;
  await runToEnd(host, request, backends);
  await runToEnd(host, executionRequest('hitl', { threadId, command: { resume: 'a' } }), backends);
  await runToEnd(host, executionRequest('hitl', { threadId, command: { resume: 'b' } }), backends);
  return threadId;
}

it('a thread that never ran has an empty state', async () => {
  expect(await stateOf('echo', 'T', memoryBackends())).toEqual({
    values: {},
    next: [],
    tasks: [],
    metadata: {},
    created_at: null,
    checkpoint: { thread_id: 'T', checkpoint_ns: '' },
    parent_checkpoint: null,
    interrupts: [],
    checkpoint_id: null,
    parent_checkpoint_id: null,
  });
  expect(await historyOf('echo', 'T', memoryBackends())).toEqual([]);
});

it('metadata says what every step wrote, by node', async () => {
  const backends = memoryBackends();
  const threadId = await runWithTwoAnswers(backends);
  const states = await historyOf('hitl', threadId, backends);
  expect(states.map(({ metadata }) => [metadata.source, metadata.step, metadata.writes])).toEqual([
    ['loop', 2, { finish: { topic: 'done with a and b' } }],
    ['loop', 1, { ask: { answers: ['a', 'b'] } }],
    ['loop', 0, {}],
    ['input', -1, { __start__: { topic: 'tea' } }],
  ]);
  for (const { metadata, checkpoint_id } of states) {
    expect(metadata).toMatchObject({ thread_id: threadId, checkpoint_id, graph_id: 'hitl', parents: {} });
  }
  expect((await stateOf('hitl', threadId, backends)).metadata.writes).toEqual({
    finish: { topic: 'done with a and b' },
  });
});

it('each checkpoint has the id and the metadata of the run that made it', async () => {
  const backends = memoryBackends();
  const first = executionRequest('steps', { input: { until: 2 } });
  first.config.metadata = { batch: 7, writes: 'mine', source: 'mine' };
  await runToEnd(host, first, backends);
  const { threadId } = first;
  const second = executionRequest('steps', { threadId, input: { until: 3 } });
  await runToEnd(host, second, backends);
  const ofRun = await historyOf('steps', threadId, backends, { metadata: { run_id: first.runId } });
  expect(ofRun.map(({ metadata }) => [metadata.source, metadata.step])).toEqual([
    ['loop', 2],
    ['loop', 1],
    ['loop', 0],
    ['input', -1],
  ]);
  for (const { metadata } of ofRun) {
    const { runId, assistantId } = first;
    expect(metadata).toMatchObject({ run_id: runId, assistant_id: assistantId, run_attempt: 1, batch: 7 });
  }
  expect(ofRun.at(-1)?.metadata.writes).toEqual({ __start__: { until: 2 } });
  expect((await stateOf('steps', threadId, backends)).metadata).toMatchObject({ run_id: second.runId });
});

it('nodes see who makes the run, and no checkpoint has it', async () => {
  const backends = memoryBackends();
  const user = { identity: 'ada', permissions: ['private'], token: 'secret' };
  const request = executionRequest('probe', {
    input: { do: 'caller' },
    config: {
      configurable: {
        langgraph_auth_user: user,
        langgraph_auth_user_id: 'ada-private',
        langgraph_auth_permissions: ['private'],
        svc_auth_user: user,
        svc_request_id: 'request-private',
        tone: 'kind',
      },
    },
  });
  const { values } = await runToEnd(host, request, backends);
  expect(values?.seen).toEqual(['ada', 'ada']);
  const { stored } = backends.checkpoints;
  expect(stored.length).toBeGreaterThan(1);
  for (const { metadata, metadataJson } of stored) {
    expect(JSON.stringify(metadataJson)).not.toMatch(/private|secret|auth_user|request_id/);
    expect(Buffer.from(metadata.data).toString('utf8')).not.toMatch(/private|secret|auth_user|request_id/);
  }
});

it('history can be limited, filtered and started at a checkpoint', async () => {
  const backends = memoryBackends();
  const { threadId } = executionRequest('steps');
  await runToEnd(host, executionRequest('steps', { threadId, input: { until: 3 } }), backends);
  const all = await historyOf('steps', threadId, backends);
  expect(all.map(({ metadata }) => metadata.step)).toEqual([3, 2, 1, 0, -1]);
  expect(await historyOf('steps', threadId, backends, { limit: 2 })).toEqual(all.slice(0, 2));
  const before = { beforeCheckpointId: all[1]?.checkpoint_id };
  expect(await historyOf('steps', threadId, backends, { limit: 2, ...before })).toEqual(all.slice(2, 4));
  expect(await historyOf('steps', threadId, backends, { metadata: { source: 'input' } })).toEqual(all.slice(4));
  expect(await historyOf('steps', threadId, backends, { limit: 0 })).toEqual([]);
});

it('a history of some keys of the values loads no others, and has the same steps and tasks', async () => {
  const backends = memoryBackends();
  const threadId = await runWithTwoAnswers(backends);
  const all = await historyOf('hitl', threadId, backends);
  const some = await historyOf('hitl', threadId, backends, { keys: ['answers'] });
  expect(some.map(({ values }) => values)).toEqual(
    all.map(({ values }) => {
      const { topic: _, ...others } = values as Record<string, unknown>;
      return others;
    }),
  );
  const withoutValues = (states: State[]) => states.map(({ values: _, ...others }) => others);
  expect(withoutValues(some)).toEqual(withoutValues(all));
  expect(withoutValues(await historyOf('hitl', threadId, backends, { keys: [] }))).toEqual(withoutValues(all));
});

it('a history ends before the state that exceeds its bytes, and always has the newest', async () => {
  const backends = memoryBackends();
  const { threadId } = executionRequest('steps');
  await runToEnd(host, executionRequest('steps', { threadId, input: { until: 9 } }), backends);
  const all = await historyOf('steps', threadId, backends, { limit: 20 });
  expect(all).toHaveLength(11);
  const bytesOf = (states: State[]) => Buffer.byteLength(JSON.stringify(states));
  const within = (maxBytes: number) => historyOf('steps', threadId, backends, { limit: 20, maxBytes });
  expect(await within(1)).toEqual(all.slice(0, 1));
  for (const count of [1, 4, 5, 10]) {
    expect(await within(bytesOf(all.slice(0, count + 1)) - 1)).toEqual(all.slice(0, count));
  }
  expect(await within(bytesOf(all))).toEqual(all);
  expect(await historyOf('steps', threadId, backends, { limit: 6, maxBytes: 1e9 })).toEqual(all.slice(0, 6));
});

it('a state shows waiting tasks with their interrupts, also at an older checkpoint', async () => {
  const backends = memoryBackends();
  const request = executionRequest('hitl', { input: { topic: 'tea' } });
  await runToEnd(host, request, backends);
  const state = await stateOf('hitl', request.threadId, backends);
  const interrupts = [{ id: expect.any(String), value: { question: 'tea?' } }];
  expect(state).toMatchObject({ next: ['ask'], interrupts, values: { topic: 'tea' } });
  expect(state.tasks).toEqual([
    {
      id: expect.any(String),
      name: 'ask',
      path: ['__pregel_pull', 'ask'],
      error: null,
      interrupts,
      checkpoint: null,
      state: null,
      result: null,
    },
  ]);
  const older = await stateOf('hitl', request.threadId, backends, { checkpointId: state.parent_checkpoint_id });
  expect(older).toMatchObject({ next: ['__start__'], values: {}, checkpoint_id: state.parent_checkpoint_id });
});

it('a state shows the error of a task', async () => {
  const backends = memoryBackends();
  const request = executionRequest('boom', { input: { how: 'type' } });
  await runToEnd(host, request, backends);
  const { tasks } = await stateOf('boom', request.threadId, backends);
  expect(tasks).toMatchObject([{ name: 'boom', error: "TypeError('secret detail 42')" }]);
});

it('a state contains the state of a subgraph on request, and otherwise names its namespace', async () => {
  const backends = memoryBackends();
  const request = executionRequest('sub', { input: { text: 'hi', asks: true } });
  await runToEnd(host, request, backends);
  const { tasks } = await stateOf('sub', request.threadId, backends);
  const checkpoint = tasks[0]?.checkpoint as { checkpoint_ns: string };
  expect(checkpoint).toMatchObject({ thread_id: request.threadId, checkpoint_ns: expect.stringMatching(/^child:/) });
  expect(tasks[0]?.state).toBeNull();
  const deep = await stateOf('sub', request.threadId, backends, { subgraphs: true });
  expect(deep.tasks[0]).toMatchObject({ checkpoint: null, state: { next: ['inner'], values: { text: 'hi' } } });
  const state = (deep.tasks as { state: State }[])[0]!.state;
  expect(state.checkpoint).toEqual({
    thread_id: request.threadId,
    checkpoint_ns: checkpoint.checkpoint_ns,
    checkpoint_id: state.checkpoint_id,
    checkpoint_map: { '': deep.checkpoint_id, [checkpoint.checkpoint_ns]: state.checkpoint_id },
  });
  const inside = await stateOf('sub', request.threadId, backends, { checkpointNs: checkpoint.checkpoint_ns });
  expect(inside).toMatchObject({ next: ['inner'], checkpoint: { checkpoint_ns: checkpoint.checkpoint_ns } });
});

it('an update writes state as a node, and a run goes on from it', async () => {
  const backends = memoryBackends();
  const threadId = randomUUID();
  const update = { graphId: 'steps', threadId, values: { count: 5, until: 7 }, asNode: 'step' };
  const { written } = await host.updateState(update, backends);
  const state = await stateOf('steps', threadId, backends);
  expect(written).toEqual({
    checkpoint: { thread_id: threadId, checkpoint_ns: '', checkpoint_id: state.checkpoint_id },
    configurable: { thread_id: threadId, checkpoint_ns: '', checkpoint_id: state.checkpoint_id },
    checkpoint_id: state.checkpoint_id,
  });
  const writes = { step: { count: 5, until: 7 } };
  expect(state).toMatchObject({
    values: { count: 5, until: 7 },
    next: ['step'],
    metadata: { source: 'update', writes },
  });
  const { values } = await runToEnd(host, executionRequest('steps', { threadId }), backends);
  expect(values).toEqual({ count: 7, until: 7 });
});

it('an update answers with the state that is read after it, without reading its checkpoint from storage', async () => {
  const backends = memoryBackends();
  const { threadId, ...first } = executionRequest('hitl', { input: { topic: 'tea' } });
  await runToEnd(host, { threadId, ...first }, backends);
  const read: (string | undefined)[] = [];
  const get = backends.checkpoints.get.bind(backends.checkpoints);
  backends.checkpoints.get = (thread, namespace, checkpointId) => {
    read.push(checkpointId);
    return get(thread, namespace, checkpointId);
  };
  const supersteps = ['__input__', '__start__', 'ask'].map((as_node) => ({
    updates: [{ values: { topic: 'coffee' }, as_node }],
  }));
  // An update inherits what it does not write, whether a run or another update has written that.
  for (const update of [
    { threadId, graphId: 'hitl', values: { answers: ['a'] }, asNode: 'ask' },
    { threadId, graphId: 'hitl', values: { topic: 'coffee' }, asNode: 'ask' },
    { threadId, graphId: 'hitl', values: null },
    { threadId, graphId: 'hitl', supersteps },
    { threadId: randomUUID(), graphId: 'steps', values: { count: 5 }, asNode: 'step' },
  ]) {
    const { written, state } = await host.updateState(update, backends);
    expect(read).not.toContain(written.checkpoint_id);
    expect(asWire(state)).toEqual(asWire(await stateOf(update.graphId, update.threadId, backends)));
  }
});

it('an update answers with no state where what it wrote does not tell it', async () => {
  const backends = memoryBackends();
  const threadId = randomUUID();
  const update = { graphId: 'steps', threadId, values: { count: 5 }, asNode: 'step' };
  const { written } = await host.updateState(update, backends);
  const checkpointId = String(written.checkpoint_id);
  for (const other of [
    { ...update, checkpointId },
    { graphId: 'hitl', threadId: randomUUID(), values: { topic: 'tea' }, asNode: '__input__' },
    {
      graphId: 'dynamic',
      threadId: randomUUID(),
      config: { configurable: { node: 'named' } },
      values: { text: 'hi' },
      asNode: 'named',
    },
  ]) {
    expect(await host.updateState(other, backends)).not.toHaveProperty('state');
  }
});

it('a factory makes the graph of a state request with the configuration of the request', async () => {
  const backends = memoryBackends();
  const threadId = randomUUID();
  const named = { graphId: 'dynamic', threadId, config: { configurable: { node: 'named' } } };
  const update = { values: { text: 'hi' }, asNode: 'named' };
  await host.updateState({ ...named, ...update }, backends);
  const [newest] = await host.getHistory({ ...named, limit: 1 }, backends);
  expect(newest).toMatchObject({ values: { text: 'hi' }, metadata: { writes: { named: { text: 'hi' } } } });
  const unnamed = host.updateState({ graphId: 'dynamic', threadId, ...update }, backends);
  await expect(unnamed).rejects.toMatchObject({ reason: 'bad_request' });
});

it('an update without a node counts as made by the node that ran last', async () => {
  const backends = memoryBackends();
  const request = executionRequest('steps', { input: { until: 1 } });
  await runToEnd(host, request, backends);
  await host.updateState({ graphId: 'steps', threadId: request.threadId, values: { count: 8 } }, backends);
  const { metadata } = await stateOf('steps', request.threadId, backends);
  expect(metadata.writes).toEqual({ step: { count: 8 } });
});

it('supersteps are applied in order, `__input__` and `__start__` among them', async () => {
  const backends = memoryBackends();
  const supersteps = [
    { updates: [{ values: { topic: 'tea' }, as_node: '__input__' }] },
    { updates: [{ values: { topic: 'tea' }, as_node: '__start__' }] },
    { updates: [{ values: { answers: ['x', 'y'] }, as_node: 'ask' }] },
  ];
  await host.updateState({ graphId: 'hitl', threadId: 'T', supersteps }, backends);
  const states = await historyOf('hitl', 'T', backends);
  expect(states.map(({ metadata, next }) => [metadata.source, next, metadata.writes])).toEqual([
    ['update', ['finish'], { ask: { answers: ['x', 'y'] } }],
    ['update', ['ask'], { __start__: { topic: 'tea' } }],
    ['input', ['__start__'], {}],
  ]);
});

it.each([
  ['a `__start__` step', 'tea', '__start__'],
  ['a run without an input', 'tea', null],
  ['another input takes its place', 'coffee', { topic: 'coffee' }],
])('an input of supersteps waits outside of the state, until %s', async (_, topic, then) => {
  const backends = memoryBackends();
  const { threadId } = executionRequest('hitl');
  const updateWith = (as_node: string) =>
    host.updateState(
      { graphId: 'hitl', threadId, supersteps: [{ updates: [{ values: { topic: 'tea' }, as_node }] }] },
      backends,
    );
  await updateWith('__input__');
  expect(await stateOf('hitl', threadId, backends)).toMatchObject({ values: {}, next: ['__start__'] });
  if (typeof then === 'string') await updateWith(then);
  else await runToEnd(host, executionRequest('hitl', { threadId, input: then }), backends);
  expect(await stateOf('hitl', threadId, backends)).toMatchObject({ values: { topic }, next: ['ask'] });
});

it('an unknown node and an unknown graph are refused by name', async () => {
  const refused = host.updateState({ graphId: 'steps', threadId: 'T', values: {}, asNode: 'zap' }, memoryBackends());
  await expect(refused).rejects.toMatchObject({ reason: 'bad_request', message: 'Node "zap" does not exist' });
  const unknown = host.getState({ graphId: 'nobody', threadId: 'T' }, memoryBackends());
  await expect(unknown).rejects.toMatchObject({ reason: 'not_found', message: 'The project has no graph "nobody"' });
});

it('a state that storage cannot decrypt fails with that reason', async () => {
  const backends = memoryBackends();
  const read = () => Promise.reject(new BackendError('unreadable', 'the key is gone'));
  Object.assign(backends.checkpoints, { get: read, list: read });
  const told = { reason: 'unreadable', message: 'the key is gone' };
  await expect(stateOf('echo', 'T', backends)).rejects.toMatchObject(told);
  await expect(historyOf('echo', 'T', backends)).rejects.toMatchObject(told);
  const update = host.updateState({ graphId: 'steps', threadId: 'T', values: {}, asNode: 'step' }, backends);
  await expect(update).rejects.toMatchObject(told);
});

it('state requests do not change the shared graph', async () => {
  const all = Array.from({ length: 30 }, () => memoryBackends());
  await Promise.all(
    all.map((backends, index) =>
      host.updateState({ graphId: 'steps', threadId: 'T', values: { count: index }, asNode: 'step' }, backends),
    ),
  );
  const states = await Promise.all(all.map((backends) => stateOf('steps', 'T', backends)));
  expect(states.map(({ values }) => values)).toEqual(all.map((_, index) => ({ count: index })));
});
