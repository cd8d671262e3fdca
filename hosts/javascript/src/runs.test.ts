import { randomUUID } from 'node:crypto';
import { BackendError, metadataJsonOf } from '@runyard/checkpointer';
import type { ExecutionRequest } from '@runyard/host-protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  executionRequest,
  type HostUnderTest,
  memoryBackends,
  runToEnd,
  startHost,
  startRun,
} from '../test/host-under-test.ts';
import { MemoryStore } from '../test/memory-backends.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost();
});
afterAll(() => host.close());

const until = (condition: () => boolean) => expect.poll(condition, { interval: 1 }).toBe(true);

it('a run goes on from an interrupt with the answer of a command', async () => {
  const backends = memoryBackends();
  const threadId = randomUUID();
  await runToEnd(host, executionRequest('hitl', { threadId, input: { topic: 'tea' } }), backends);
  const second = await runToEnd(host, executionRequest('hitl', { threadId, command: { resume: 'yes' } }), backends);
  expect(second.values).toMatchObject({ __interrupt__: [{ value: { question: 'sure about yes?' } }] });
  const third = await runToEnd(host, executionRequest('hitl', { threadId, command: { resume: 'very' } }), backends);
  expect(third.outcome).toMatchObject({ kind: 'done', next: [], interrupts: null });
  expect(third.values).toEqual({ topic: 'done with yes and very', answers: ['yes', 'very'] });
});

it('a run does not ask for the checkpoints of a thread that has none, and finds its own', async () => {
  const backends = memoryBackends();
  const threadId = randomUUID();
  const { operations } = backends.checkpoints;
  const request = executionRequest('hitl', { threadId, input: { topic: 'tea' }, isThreadNew: true });
  expect((await runToEnd(host, request, backends)).values).toMatchObject({
    __interrupt__: [{ id: expect.anything() }],
  });
  // The state at the interrupt is read at the end.
  expect(operations.slice(0, operations.indexOf('put'))).toEqual([]);
  const second = await runToEnd(host, executionRequest('hitl', { threadId, command: { resume: 'yes' } }), backends);
  expect(second.values).toMatchObject({ __interrupt__: [{ value: { question: 'sure about yes?' } }] });
  expect(operations.filter((operation) => operation === 'get').length).toBeGreaterThan(1);
});

it('a repeated attempt does not give the same answer to the next interrupt', async () => {
  const backends = memoryBackends();
  const threadId = randomUUID();
  await runToEnd(host, executionRequest('hitl', { threadId, input: { topic: 'tea' } }), backends);
  const request = executionRequest('hitl', { threadId, command: { resume: 'yes' } });
  await runToEnd(host, request, backends);
  // The end of the run was lost: it is attempted again, and has reached no checkpoint.
  const again = await runToEnd(host, { ...request, attempt: 2 }, backends);
  expect(again.values).toMatchObject({ __interrupt__: [{ value: { question: 'sure about yes?' } }] });
});

it('a run takes several answers at once by the ids of their interrupts', async () => {
  const backends = memoryBackends();
  const threadId = randomUUID();
  const { values } = await runToEnd(host, executionRequest('hitl', { threadId, input: { topic: 'tea' } }), backends);
  const [{ id }] = values!.__interrupt__ as [{ id: string }];
  const second = await runToEnd(
    host,
    executionRequest('hitl', { threadId, command: { resume: { [id]: 'mapped' } } }),
    backends,
  );
  expect(second.values).toMatchObject({ __interrupt__: [{ value: { question: 'sure about mapped?' } }] });
});

it('a run takes answers that are false, zero or empty', async () => {
  const backends = memoryBackends();
  const threadId = randomUUID();
  await runToEnd(host, executionRequest('hitl', { threadId, input: { topic: 'tea' } }), backends);
  const second = await runToEnd(host, executionRequest('hitl', { threadId, command: { resume: false } }), backends);
  expect(second.values).toMatchObject({ __interrupt__: [{ value: { question: 'sure about false?' } }] });
  const third = await runToEnd(host, executionRequest('hitl', { threadId, command: { resume: 0 } }), backends);
  expect(third.values).toEqual({ topic: 'done with false and 0', answers: [false, 0] });
});

it.each(['plain', 'by id'])(
  'an answer, given %s, that a run failed to take is kept for the next run that goes on',
  async (how) => {
    const backends = memoryBackends();
    const threadId = randomUUID();
    const run = (request: Partial<ExecutionRequest>) =>
      runToEnd(host, executionRequest('questions', { threadId, ...request }), backends);
    const { values } = await run({ input: { where: 'broken' } });
    const [{ id }] = values!.__interrupt__ as [{ id: string }];
    const resume = how === 'plain' ? 'yes' : { [id]: 'yes' };
    const failed = await run({ command: { resume }, config: { configurable: { fails: true } } });
    expect(failed.outcome).toMatchObject({ kind: 'failed', error: { message: 'not now' } });
    const next = await run({});
    expect(next.values).toMatchObject({ answers: [{ broken: 'yes' }], __interrupt__: [{ value: 'last' }] });
    const again = await run({});
    expect(again.values).toMatchObject({ __interrupt__: [{ value: 'last' }] });
  },
);

it.each(['input', 'args'])("a command moves to a node and writes state, with the node's input as %s", async (name) => {
  const backends = memoryBackends();
  const threadId = randomUUID();
  await runToEnd(host, executionRequest('hitl', { threadId, input: { topic: 'tea' } }), backends);
  const command = { goto: [{ node: 'finish', [name]: { answers: ['sent'] } }], update: { topic: 'ignored' } };
  const { values } = await runToEnd(host, executionRequest('hitl', { threadId, command }), backends);
  expect(values).toMatchObject({ topic: 'done with sent' });
});

it('a run has the name that its configuration gives it', async () => {
  const request = executionRequest('echo', { input: { messages: [] }, streamModes: ['events'] });
  request.config.run_name = 'mine';
  const { events } = await runToEnd(host, request, memoryBackends());
  expect(events.find(({ event }) => event === 'events')?.data).toMatchObject({ event: 'on_chain_start', name: 'mine' });
});

it('a run stops before and after the nodes of its request', async () => {
  for (const stop of [{ interruptBefore: ['step'] }, { interruptAfter: '*' as const }]) {
    const backends = memoryBackends();
    const request = executionRequest('steps', { input: { until: 3 }, ...stop });
    const { outcome, values } = await runToEnd(host, request, backends);
    expect(outcome).toMatchObject({ kind: 'done', next: ['step'], interrupts: null });
    expect(values).toMatchObject({ until: 3, __interrupt__: [] });
    const rest = await runToEnd(host, executionRequest('steps', { threadId: request.threadId }), backends);
    expect(rest.values).toMatchObject({ count: 3 });
  }
});

it('a second attempt goes on from the last checkpoint without applying the input again', async () => {
  const backends = memoryBackends();
  const request = executionRequest('steps', { input: { until: 4 }, interruptAfter: '*' });
  await runToEnd(host, request, backends);
  const again = { ...request, attempt: 2, interruptAfter: [] };
  const { values } = await runToEnd(host, again, backends);
  expect(values).toEqual({ count: 4, until: 4 });
  const states = await host.getHistory({ graphId: 'steps', threadId: request.threadId, limit: 20 }, backends);
  expect(states.filter(({ metadata }) => (metadata as { source: string }).source === 'input')).toHaveLength(1);
});

it('a run begins at a given checkpoint, and a repeated attempt goes on from what it made', async () => {
  const backends = memoryBackends();
  const request = executionRequest('steps', { input: { until: 2 } });
  await runToEnd(host, request, backends);
  const states = await host.getHistory({ graphId: 'steps', threadId: request.threadId, limit: 20 }, backends);
  const first = states.find(({ values }) => (values as { count?: number }).count === 1);
  const checkpoint_id = first?.checkpoint_id as string;
  const fork = executionRequest('steps', { threadId: request.threadId, config: { configurable: { checkpoint_id } } });
  const forked = await runToEnd(host, fork, backends);
  expect(forked.values).toMatchObject({ count: 2 });
  const again = await runToEnd(host, { ...fork, attempt: 2 }, backends);
  expect(again.outcome.kind).toBe('done');
  expect(again.values).toMatchObject({ count: 2 });
});

it.each([undefined, null])('a run refuses the input %j as empty', async (input) => {
  const { outcome } = await runToEnd(host, executionRequest('echo', { input }));
  expect(outcome).toMatchObject({ kind: 'failed', error: { error: 'EmptyInputError' } });
});

it('a failed run reports class name and message of the error, with the values so far', async () => {
  const type = await runToEnd(host, executionRequest('boom', { input: { how: 'type' } }));
  expect(type.outcome).toMatchObject({ kind: 'failed', error: { error: 'TypeError', message: 'secret detail 42' } });
  expect(type.values).toEqual({ how: 'type' });
  const own = await runToEnd(host, executionRequest('boom', { input: { how: 'own class' } }));
  expect(own.outcome).toMatchObject({ kind: 'failed', error: { error: 'OutOfStock', message: 'no more apples' } });
  const steps = executionRequest('steps', { input: { until: 9 }, config: { configurable: {}, recursion_limit: 3 } });
  const recursion = await runToEnd(host, steps);
  expect(recursion.outcome).toMatchObject({ kind: 'failed', error: { error: 'GraphRecursionError' } });
  const unknown = await runToEnd(host, executionRequest('nobody', { input: {} }));
  expect(unknown.outcome).toMatchObject({ kind: 'failed', error: { message: 'The project has no graph "nobody"' } });
});

it.each([
  ['a name that is a number', { error: 'Error', message: 'no luck' }],
  ['a name and a message without a text', { error: 'Error', message: '{}' }],
  ['a message that cannot be written', { error: 'Error', message: 'The error cannot be described.' }],
])('a run fails whose error has %s', async (how, error) => {
  const { outcome } = await runToEnd(host, executionRequest('boom', { input: { how } }));
  expect(outcome).toMatchObject({ kind: 'failed', error });
});

it.each(['bigint', 'circular'])('a failed run says why a %s value cannot be sent', async (how) => {
  const { outcome } = await runToEnd(host, executionRequest('boom', { input: { how } }), { store: new MemoryStore() });
  expect(outcome).toMatchObject({ kind: 'failed', error: { error: 'UnserializableValueError' } });
});

it('a run without checkpoints still returns its final values', async () => {
  const request = executionRequest('steps', { input: { until: 2 }, streamModes: ['checkpoints', 'updates'] });
  const { values, events } = await runToEnd(host, request, { store: new MemoryStore() });
  expect(values).toEqual({ count: 2, until: 2 });
  expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['updates']));
});

it('concurrent runs of one graph stay apart, with and without checkpoints', async () => {
  const backends = Array.from({ length: 100 }, (_, index) =>
    index % 2 === 0 ? memoryBackends() : { store: new MemoryStore() },
  );
  const requests = backends.map((_, index) => executionRequest('steps', { input: { until: 1 + (index % 5) } }));
  const runs = await Promise.all(requests.map((request, index) => runToEnd(host, request, backends[index])));
  for (const [index, { outcome, values }] of runs.entries()) {
    expect(outcome.kind).toBe('done');
    expect(values).toEqual({ count: 1 + (index % 5), until: 1 + (index % 5) });
    const { checkpoints } = backends[index] as ReturnType<typeof memoryBackends>;
    const threads = new Set(checkpoints?.stored.map(({ key }) => key.threadId));
    expect([...threads]).toEqual(checkpoints ? [requests[index]?.threadId] : []);
    expect(checkpoints?.stored.length ?? 0).toBe(checkpoints ? 3 + (index % 5) : 0);
  }
});

it('a host delivers an event only when the checkpoint before it is durable', async () => {
  const backends = memoryBackends();
  let commit = () => {};
  let isHeld = false;
  backends.checkpoints.beforePut = (put) => {
    if (metadataJsonOf(put).step !== 0) return Promise.resolve();
    isHeld = true;
    return new Promise((resolve) => {
      commit = resolve;
    });
  };
  const run = startRun(
    host,
    executionRequest('echo', { input: { messages: [{ role: 'user', content: 'hi' }] } }),
    backends,
  );
  await until(() => isHeld);
  await host.ping();
  await host.ping();
  expect(run.events).toEqual([]);
  commit();
  expect(await run.settled).toMatchObject({ kind: 'done' });
  expect(run.events).toHaveLength(2);
});

it('a run ends as fenced as soon as its storage says so, and delivers nothing afterwards', async () => {
  const backends = memoryBackends();
  backends.checkpoints.beforePut = async () => {
    throw new BackendError('fenced', 'another attempt owns the thread');
  };
  const run = startRun(host, executionRequest('steps', { input: { until: 5 } }), backends);
  expect(await run.settled).toEqual({ kind: 'fenced' });
  await host.ping();
  expect(run.events).toEqual([]);
});

it('a run ends as lost, not as failed, when its storage is unavailable', async () => {
  const backends = memoryBackends();
  backends.checkpoints.beforeWrites = async () => {
    throw new BackendError('unavailable', 'no connection');
  };
  const { outcome } = await runToEnd(host, executionRequest('steps', { input: { until: 5 } }), backends);
  expect(outcome).toEqual({ kind: 'lost', cause: 'storage', reason: 'storage is unavailable: no connection' });
});

it('a run fails and is not lost when its storage has an error that nobody foresaw', async () => {
  const backends = memoryBackends();
  backends.checkpoints.beforeWrites = async () => {
    throw new TypeError('null has no replace');
  };
  const { outcome } = await runToEnd(host, executionRequest('steps', { input: { until: 5 } }), backends);
  expect(outcome).toMatchObject({
    kind: 'failed',
    error: { error: 'StorageFailedError', message: 'null has no replace' },
  });
});

it('an abort reaches the signal of a tool, and the values so far are kept', async () => {
  const request = executionRequest('slow', { input: {}, command: undefined });
  const run = startRun(host, { ...request, input: { seen: [] } });
  await until(() => host.logs.some(({ message, runId }) => message === 'tool waits' && runId === request.runId));
  run.abort('cancelled by the user');
  const outcome = await run.settled;
  expect(outcome).toMatchObject({ kind: 'aborted' });
  expect(JSON.parse(Buffer.from((outcome as { values: Uint8Array }).values).toString())).toEqual({ seen: ['first'] });
  await until(() =>
    host.logs.some(({ message, runId }) => message === 'tool saw the abort' && runId === request.runId),
  );
});

it.each(['fail', 'wait'])(
  'a run keeps what a node asks beside one that has to %s, whose end is that of the run',
  async (how) => {
    const backends = memoryBackends();
    const request = executionRequest('beside', { input: { how } });
    const run = startRun(host, request, backends);
    if (how === 'wait') {
      await until(() => host.logs.some(({ message, runId }) => message === 'waits beside' && runId === request.runId));
      run.abort('stopped');
    }
    const outcome = (await run.settled) as { kind: string; interrupts: Uint8Array };
    expect(outcome.kind).toBe(how === 'fail' ? 'failed' : 'aborted');
    const asked = JSON.parse(Buffer.from(outcome.interrupts).toString()) as object;
    expect(Object.values(asked)).toEqual([[{ id: expect.any(String), value: 'Really?' }]]);
    const state = await host.getState({ graphId: 'beside', threadId: request.threadId }, backends);
    expect(state.interrupts).toEqual(Object.values(asked)[0]);
  },
);

it('a run drains at a step boundary, and another attempt goes on without repeating a step', async () => {
  const backends = memoryBackends();
  const request = executionRequest('steps', {
    input: { until: 200 },
    config: { configurable: {}, recursion_limit: 500 },
    streamModes: ['updates'],
  });
  const run = startRun(host, request, backends);
  await until(() => run.events.length > 3);
  run.drain();
  expect(await run.settled).toEqual({ kind: 'drained' });
  const rest = await runToEnd(host, { ...request, attempt: 2 }, backends);
  expect(rest.values).toEqual({ count: 200, until: 200 });
  const counts = [...run.events.map(({ data }) => JSON.parse(data)), ...rest.events.map(({ data }) => data)].map(
    (update) => update.step.count,
  );
  expect(counts).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
});

it('a run reads and writes the store it is given', async () => {
  const backends = memoryBackends();
  const { values } = await runToEnd(host, executionRequest('probe', { input: { do: 'store' } }), backends);
  expect(values).toMatchObject({ seen: { text: 'kept' } });
  expect([...backends.store.items.values()]).toMatchObject([{ namespace: ['notes'], key: 'a' }]);
});

it('nodes get their configurable values and context', async () => {
  const request = executionRequest('probe', {
    input: { do: 'config' },
    context: { user: 'ada' },
    config: { configurable: { tone: 'kind' } },
  });
  const { values } = await runToEnd(host, request);
  const seen = values?.seen as { configurable: string[]; context: unknown };
  expect(seen.context).toMatchObject({ user: 'ada' });
  expect(seen.configurable).toEqual(expect.arrayContaining(['thread_id', 'run_id', 'tone']));
});

it('checkpoints, events and results carry values of megabytes', async () => {
  const backends = memoryBackends();
  const request = executionRequest('probe', { input: { do: 'large' } });
  const [{ values, events }, small] = await Promise.all([
    runToEnd(host, request, backends),
    runToEnd(host, executionRequest('steps', { input: { until: 3 } })),
  ]);
  expect(String(values?.seen)).toHaveLength(5_000_000);
  expect(events).toHaveLength(2);
  expect(small.values).toMatchObject({ count: 3 });
  const state = await host.getState({ graphId: 'probe', threadId: request.threadId }, backends);
  expect((state.values as { seen: string }).seen).toHaveLength(5_000_000);
});

it('a run fails with the message of a storage that refuses a checkpoint', async () => {
  for (const durability of ['async', 'sync', 'exit'] as const) {
    const backends = memoryBackends();
    backends.checkpoints.beforePut = async () => {
      throw new BackendError('too_large', 'the state of the thread is larger than 100 MB');
    };
    const { outcome } = await runToEnd(host, executionRequest('steps', { input: { until: 3 }, durability }), backends);
    expect(outcome).toMatchObject({
      kind: 'failed',
      error: { message: 'the state of the thread is larger than 100 MB' },
    });
  }
});

it('a run restores a channel that stores only what changed', async () => {
  const backends = memoryBackends();
  const threadId = randomUUID();
  for (const text of ['x', 'y', 'z'])
    await runToEnd(host, executionRequest('delta', { threadId, input: { log: [text] } }), backends);
  const { values } = await host.getState({ graphId: 'delta', threadId }, backends);
  expect(values).toEqual({ log: ['x', 'a0', 'y', 'a1', 'z', 'a2'], round: 3 });
});

it('a run with durability sync waits for each checkpoint', async () => {
  const backends = memoryBackends();
  let underWay = 0;
  let most = 0;
  backends.checkpoints.beforePut = async () => {
    underWay++;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
  };
  const { outcome } = await runToEnd(
    host,
    executionRequest('steps', { input: { until: 5 }, durability: 'sync' }),
    backends,
  );
  expect(outcome.kind).toBe('done');
  expect(most).toBe(1);
});

it('a run with durability exit writes nothing before its end', async () => {
  const backends = memoryBackends();
  const { outcome } = await runToEnd(
    host,
    executionRequest('steps', { input: { until: 3 }, durability: 'exit' }),
    backends,
  );
  expect(outcome.kind).toBe('done');
  expect(backends.checkpoints.operations.filter((operation) => operation === 'put')).toHaveLength(1);
});
