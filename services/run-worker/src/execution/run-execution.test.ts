import type { ExecutionOutcome } from '@runyard/host-client';
import { type ExhaustedBudget, FencedError, type FinishedRun, type RunRecord, type UsedRun } from '@runyard/run-engine';
import { StaleEpochError } from '@runyard/run-stream';
import { TRACING_OFF } from '@runyard/tracing';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { claimedRun, FakeHost, FakeStreams, quietLogger, workerMetrics } from '../../test/fakes.ts';
import { EventPublisher } from '../streams/event-publisher.ts';
import { type ExecutionDeps, RunExecution } from './run-execution.ts';
import { UsageWriter } from './usage-writer.ts';

const DONE: ExecutionOutcome = {
  kind: 'done',
  values: Buffer.from('{"n":1}'),
  next: [],
  interrupts: null,
  checkpointId: 'c',
};

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

function execute(overrides: Partial<ExecutionDeps> = {}) {
  const fake = new FakeHost();
  const streams = new FakeStreams();
  const run = claimedRun();
  const metrics = workerMetrics();
  const slot = {
    host: fake.host,
    crashAttribution: () => 'sole' as const,
    reportUnresponsive: vi.fn(),
    markBegun: vi.fn(),
    onUnresponsive: vi.fn(),
    release: vi.fn(),
  };
  const engine = {
    finishRun: vi.fn(
      async (finish): Promise<FinishedRun> => ({
        ...{ ...finish, isRolledBack: false, isRollingBack: false, hasNextRun: true },
        cancelledForMs: null,
      }),
    ),
    releaseRun: vi.fn(async () => ({ outcome: 'pending' as const })),
    findRuns: vi.fn(async () => [] as RunRecord[]),
    recordUsage: vi.fn(async (_used: UsedRun): Promise<ExhaustedBudget | undefined> => undefined),
    findExhaustedBudget: vi.fn(async (): Promise<ExhaustedBudget | undefined> => undefined),
    requestCancel: vi.fn(async () => []),
  };
  const execution = new RunExecution(run, {
    engine,
    publisher: new EventPublisher({
      streams,
      metrics,
      logger: quietLogger,
      currentEpoch: async () => 9n,
      storedPosition: async () => undefined,
    }),
    takeSlot: () => slot,
    checkpointsFor: () => undefined,
    storeFor: () => ({ batch: async () => [] }),
    metrics,
    tracing: TRACING_OFF,
    logger: quietLogger,
    timeoutMs: 60_000,
    abortGraceMs: 3_000,
    hostGraceMs: 5_000,
    ...overrides,
  });
  return { execution, fake, streams, run, slot, engine };
}

it('a run frees its slot once the end is durable, and publishes the end on the stream after that', async () => {
  const { execution, fake, streams, slot, engine } = execute();
  await expect.poll(() => fake.runs).toHaveLength(1);
  void fake.runs[0]!.handlers.onEvents([{ mode: 'values', event: 'values', data: '{}' }]);
  fake.runs[0]!.settle(DONE);
  expect(await execution.done).toEqual({ hasNextRun: true });
  expect(engine.finishRun).toHaveBeenCalledOnce();
  expect(slot.release).toHaveBeenCalledOnce();
  await expect.poll(() => streams.kinds()).toEqual(['metadata', 'values', 'run.end']);
  expect(streams.appended.at(-1)!.options).toEqual({ resumable: false, endsRun: true });
});

it('a message that was too large is counted, reported in its place, and the stream continues', async () => {
  const metrics = workerMetrics();
  const { execution, fake, streams } = execute({ metrics });
  await expect.poll(() => fake.runs).toHaveLength(1);
  const gap = { mode: 'stream.gap', event: 'gap', data: '{"reason":"too_large"}' };
  void fake.runs[0]!.handlers.onEvents([gap, { mode: 'values', event: 'values', data: '{}' }]);
  fake.runs[0]!.settle(DONE);
  await execution.done;
  await expect.poll(() => streams.kinds()).toEqual(['metadata', 'stream.gap', 'values', 'run.end']);
  expect((await metrics.lostEvents.get()).values[0]?.value).toBe(1);
});

it('a graph host cannot write what readers believe of the platform: it is left out, counted, and logged once', async () => {
  const metrics = workerMetrics();
  const warn = vi.fn();
  const { execution, fake, streams } = execute({ metrics, logger: { ...quietLogger, warn } });
  await expect.poll(() => fake.runs).toHaveLength(1);
  const forged = ['run.end', 'thread.state', 'metadata', 'error'].map((mode) => ({ mode, event: mode, data: '{}' }));
  const { onEvents } = fake.runs[0]!.handlers;
  void onEvents([...forged, { mode: 'custom', event: 'custom', data: '{}' }]);
  void onEvents(forged.slice(0, 1));
  fake.runs[0]!.settle(DONE);
  await execution.done;
  await expect.poll(() => streams.kinds()).toEqual(['metadata', 'custom', 'run.end']);
  expect((await metrics.lostEvents.get()).values[0]?.value).toBe(5);
  expect(warn).toHaveBeenCalledOnce();
});

it('a graph that took more steps than it may is counted', async () => {
  const metrics = workerMetrics();
  const { execution, fake } = execute({ metrics });
  await expect.poll(() => fake.runs).toHaveLength(1);
  const error = { error: 'GraphRecursionError', message: 'Recursion limit of 25 reached' };
  fake.runs[0]!.settle({ kind: 'failed', error, values: null, interrupts: null, checkpointId: null });
  await execution.done;
  expect((await metrics.recursionLimits.get()).values[0]?.value).toBe(1);
});

it('an end that took effect without an answer is published, and one that did not is not', async () => {
  for (const attempt of [1, 2]) {
    const { execution, fake, streams, engine } = execute();
    await expect.poll(() => fake.runs).toHaveLength(1);
    engine.finishRun
      .mockRejectedValueOnce(new Error('Connection terminated unexpectedly'))
      .mockRejectedValueOnce(new FencedError('t', 1n));
    engine.findRuns.mockResolvedValueOnce([{ status: 'success', error: null, attempt } as RunRecord]);
    fake.runs[0]!.settle(DONE);
    await expect.poll(() => engine.finishRun).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(500);
    expect(await execution.done).toEqual({ hasNextRun: attempt === 1 });
    if (attempt === 1) await expect.poll(() => streams.kinds()).toEqual(['metadata', 'run.end']);
    else expect(streams.kinds()).not.toContain('run.end');
  }
});

it('a disobeyed abort ends the run without its graph, and later reports the host as unresponsive', async () => {
  const { execution, fake, slot, engine } = execute();
  await expect.poll(() => fake.runs).toHaveLength(1);
  fake.runs[0]!.handlers.onBegun?.();
  execution.cancel({ runId: execution.run.runId, action: 'interrupt', reason: 'asked' });
  expect(fake.runs[0]!.aborts).toEqual(['asked']);
  expect(engine.finishRun).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(3_000);
  await execution.done;
  expect(engine.finishRun).toHaveBeenCalledWith(expect.objectContaining({ status: 'interrupted', values: null }));
  expect(slot.reportUnresponsive).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(slot.reportUnresponsive).toHaveBeenCalledOnce();
});

it('a run that is cancelled before its host began it ends at once, however long that host is busy', async () => {
  const { execution, fake, engine } = execute();
  await expect.poll(() => fake.runs).toHaveLength(1);
  execution.cancel({ runId: execution.run.runId, action: 'rollback', reason: 'asked' });
  await execution.done;
  expect(fake.runs[0]!.aborts).toEqual(['asked']);
  expect(engine.finishRun).toHaveBeenCalledWith(expect.objectContaining({ status: 'interrupted', values: null }));
});

it('a run that its host did not begin, because of others, is given back and not charged', async () => {
  const { execution, fake, slot, engine } = execute();
  await expect.poll(() => fake.runs).toHaveLength(1);
  const [[onUnresponsive]] = slot.onUnresponsive.mock.calls as [[() => void]];
  onUnresponsive();
  await execution.done;
  expect(fake.runs[0]!.aborts).toHaveLength(1);
  expect(engine.releaseRun).toHaveBeenCalledWith(execution.run.fence, {});
});

it('a run that is cancelled while it waits for a host never starts', async () => {
  const { execution, fake, engine } = execute({ takeSlot: () => new Promise(() => undefined) });
  execution.cancel({ runId: execution.run.runId, action: 'interrupt', reason: 'asked' });
  await execution.done;
  expect(fake.runs).toEqual([]);
  expect(engine.finishRun).toHaveBeenCalledWith(expect.objectContaining({ status: 'interrupted' }));
});

it('a run that finds no host is handed back and not charged', async () => {
  const { execution, engine } = execute({
    takeSlot: () => {
      throw new Error('no graph host is ready');
    },
  });
  await execution.done;
  expect(engine.releaseRun).toHaveBeenCalledWith(execution.run.fence, {});
});

it('the end of a run waits for the database and is written once it is back', async () => {
  const { execution, fake, engine } = execute();
  engine.finishRun.mockRejectedValueOnce(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  await expect.poll(() => fake.runs).toHaveLength(1);
  fake.runs[0]!.settle(DONE);
  await expect.poll(() => engine.finishRun).toHaveBeenCalledTimes(1);
  expect(await execution.done).toEqual({ hasNextRun: true });
  expect(engine.finishRun).toHaveBeenCalledTimes(2);
});

it.each([
  ['are too large to be written in time', 'canceling statement due to statement timeout', '57014'],
  ['take the database down', 'Connection terminated unexpectedly', undefined],
])('final values that %s end their run by name, and hold up no slot for ever', async (_, message, code) => {
  const { execution, fake, streams, engine } = execute();
  const accepted = engine.finishRun.getMockImplementation()!;
  engine.finishRun.mockImplementation(async (finish) => {
    if (finish.values === null) return accepted(finish);
    throw Object.assign(new Error(message), { code });
  });
  await expect.poll(() => fake.runs).toHaveLength(1);
  fake.runs[0]!.settle({ ...DONE, values: Buffer.alloc(33 * 1024 * 1024) });
  expect(await execution.done).toEqual({ hasNextRun: true });
  expect(engine.finishRun).toHaveBeenCalledTimes(4);
  expect(engine.finishRun.mock.lastCall?.[0]).toMatchObject({
    status: 'error',
    threadStatus: 'error',
    checkpointId: null,
    error: { error: 'StateTooLargeError', message: 'The final values, 33 MiB, could not be stored in time.' },
  });
  await expect.poll(() => streams.kinds()).toEqual(['metadata', 'error', 'run.end']);
});

it('an end that the database cannot complete is charged to its run, and holds up no slot for ever', async () => {
  const { execution, fake, engine } = execute();
  const tooSlow = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
  engine.finishRun.mockRejectedValue(tooSlow);
  await expect.poll(() => fake.runs).toHaveLength(1);
  fake.runs[0]!.settle(DONE);
  expect(await execution.done).toEqual({ hasNextRun: true });
  expect(engine.finishRun).toHaveBeenCalledTimes(3);
  expect(engine.releaseRun.mock.calls).toEqual([
    [
      execution.run.fence,
      { failure: { error: 'StorageTooSlow', message: 'The end of the run could not be stored in time.' } },
    ],
  ]);
});

it.each([
  ['refuses its data', Object.assign(new Error('out of range'), { code: '22003' }), 1],
  ['fails each time in a way that nobody foresaw', new Error('no such column'), 20],
])('an end is charged to its run when the database %s', async (_how, error, tries) => {
  const { execution, fake, engine } = execute();
  engine.finishRun.mockRejectedValue(error);
  await vi.waitFor(() => expect(fake.runs).toHaveLength(1));
  fake.runs[0]!.settle(DONE);
  for (let time = 1; time < tries; time += 1) {
    await vi.waitFor(() => expect(engine.finishRun).toHaveBeenCalledTimes(time));
    await vi.advanceTimersByTimeAsync(500);
  }
  expect(await execution.done).toEqual({ hasNextRun: true });
  expect(engine.finishRun).toHaveBeenCalledTimes(tries);
  expect(engine.releaseRun).toHaveBeenCalledExactlyOnceWith(execution.run.fence, {
    failure: { error: 'EndNotStored', message: 'The database did not take the end of the run.' },
  });
});

it('an end that fails once in a way that nobody foresaw is written again', async () => {
  const { execution, fake, engine } = execute();
  engine.finishRun.mockRejectedValueOnce(new Error('no such column'));
  await vi.waitFor(() => expect(fake.runs).toHaveLength(1));
  fake.runs[0]!.settle(DONE);
  await vi.waitFor(() => expect(engine.finishRun).toHaveBeenCalledOnce());
  await vi.advanceTimersByTimeAsync(500);
  await execution.done;
  expect(engine.finishRun).toHaveBeenCalledTimes(2);
  expect(engine.releaseRun).not.toHaveBeenCalled();
});

it('a run that can neither end nor be given back frees its slot all the same', async () => {
  const { execution, fake, engine } = execute();
  const tooSlow = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
  engine.finishRun.mockRejectedValue(tooSlow);
  engine.releaseRun.mockRejectedValue(tooSlow);
  await expect.poll(() => fake.runs).toHaveLength(1);
  fake.runs[0]!.settle(DONE);
  expect(await execution.done).toEqual({ hasNextRun: false });
  expect(engine.releaseRun).toHaveBeenCalledTimes(3);
});

it.each(['55P03', '40P01'])(
  'the end of a run waits for the transaction in its way, and is not charged (%s)',
  async (code) => {
    const { execution, fake, engine } = execute();
    for (let time = 0; time < 5; time += 1) {
      engine.finishRun.mockRejectedValueOnce(Object.assign(new Error('not now'), { code }));
    }
    await expect.poll(() => fake.runs).toHaveLength(1);
    fake.runs[0]!.settle(DONE);
    expect(await execution.done).toEqual({ hasNextRun: true });
    expect(engine.finishRun.mock.lastCall?.[0]).toMatchObject({ status: 'success' });
    expect(engine.releaseRun).not.toHaveBeenCalled();
  },
);

it('the end of a run whose rollback takes longer is not published by its worker', async () => {
  const { execution, fake, streams, engine } = execute();
  const end = { status: 'interrupted' as const, error: null, hasNextRun: false, cancelledForMs: 5 };
  engine.finishRun.mockResolvedValueOnce({ ...end, isRolledBack: true, isRollingBack: true });
  await expect.poll(() => fake.runs).toHaveLength(1);
  fake.runs[0]!.settle(DONE);
  expect(await execution.done).toEqual({ hasNextRun: false });
  expect(streams.kinds()).not.toContain('run.end');
});

it('large final values are kept however long the database cannot be reached', async () => {
  const { execution, fake, engine } = execute();
  const cause = new Error('Connection terminated unexpectedly');
  const away = new Error('Connection terminated due to connection timeout', { cause });
  const accepted = engine.finishRun.getMockImplementation()!;
  let failures = 4;
  const reach = () => {
    failures -= 1;
    if (failures >= 0) throw away;
  };
  engine.finishRun.mockImplementation(async (finish) => {
    reach();
    return accepted(finish);
  });
  engine.findRuns.mockImplementation(async () => {
    reach();
    return [];
  });
  await expect.poll(() => fake.runs).toHaveLength(1);
  const values = Buffer.alloc(33 * 1024 * 1024);
  fake.runs[0]!.settle({ ...DONE, values });
  expect(await execution.done).toEqual({ hasNextRun: true });
  expect(engine.finishRun.mock.lastCall?.[0]).toMatchObject({ status: 'success', error: null });
  expect(engine.finishRun.mock.lastCall?.[0].values).toBe(values);
});

it('a run that was taken over writes and publishes nothing', async () => {
  const { execution, fake, streams, engine } = execute();
  await expect.poll(() => fake.runs).toHaveLength(1);
  execution.lose();
  await execution.done;
  expect(fake.runs[0]!.aborts).toHaveLength(1);
  expect(engine.finishRun).not.toHaveBeenCalled();
  expect(engine.releaseRun).not.toHaveBeenCalled();
  expect(streams.kinds()).not.toContain('run.end');
});

it.each(['lost', 'fenced'] as const)(
  'the host of a run that runs on after it was taken over is replaced (%s)',
  async (how) => {
    const { execution, fake, slot } = execute();
    await expect.poll(() => fake.runs).toHaveLength(1);
    if (how === 'lost') execution.lose();
    else fake.runs[0]!.settle({ kind: 'fenced' });
    await execution.done;
    await vi.advanceTimersByTimeAsync(4_999);
    expect(slot.reportUnresponsive).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(slot.reportUnresponsive).toHaveBeenCalledOnce();
  },
);

it('the host of a run that obeys when it was taken over stays', async () => {
  const { execution, fake, slot } = execute();
  await expect.poll(() => fake.runs).toHaveLength(1);
  fake.runs[0]!.settle({ kind: 'fenced' });
  await execution.done;
  fake.runs[0]!.stop();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(slot.reportUnresponsive).not.toHaveBeenCalled();
});

it('a finish that is refused by the fence publishes no end', async () => {
  const { execution, fake, streams, engine } = execute();
  engine.finishRun.mockRejectedValueOnce(new FencedError('t', 1n));
  await expect.poll(() => fake.runs).toHaveLength(1);
  fake.runs[0]!.settle(DONE);
  expect(await execution.done).toEqual({ hasNextRun: false });
  expect(streams.kinds()).not.toContain('run.end');
});

it('a stream that knows a newer owner stops the run', async () => {
  const { execution, fake, streams, run } = execute();
  await expect.poll(() => fake.runs).toHaveLength(1);
  streams.before = () => Promise.reject(new StaleEpochError(run.threadId, run.fence.epoch));
  void fake.runs[0]!.handlers.onEvents([{ mode: 'values', event: 'values', data: '{}' }]);
  await execution.done;
  expect(fake.runs[0]!.aborts).toEqual(['the run was taken over']);
});

const usageOf = (calls: number) => ({ models: [], tools: [{ name: 'look', calls, failed: 0 }] });

it('what an attempt has used is told before its end, whatever that is', async () => {
  for (const outcome of [DONE, { kind: 'lost', cause: 'exited', reason: 'gone' } as const]) {
    const { execution, fake, engine, run } = execute();
    await expect.poll(() => fake.runs).toHaveLength(1);
    for (const calls of [1, 2]) fake.runs[0]!.handlers.onUsage?.(usageOf(calls));
    fake.runs[0]!.settle(outcome);
    await execution.done;
    expect(engine.recordUsage).toHaveBeenCalledOnce();
    expect(engine.recordUsage).toHaveBeenCalledWith(
      expect.objectContaining({ runId: run.runId, attempt: run.attempt, usage: usageOf(2) }),
    );
    const end = outcome === DONE ? engine.finishRun : engine.releaseRun;
    expect(engine.recordUsage.mock.invocationCallOrder[0]).toBeLessThan(end.mock.invocationCallOrder[0]!);
  }
});

it('usage that the database refuses does not withhold the end of a run', async () => {
  const { execution, fake, engine } = execute();
  engine.recordUsage.mockRejectedValue(Object.assign(new Error('out of range'), { code: '22003' }));
  await expect.poll(() => fake.runs).toHaveLength(1);
  fake.runs[0]!.handlers.onUsage?.(usageOf(1));
  fake.runs[0]!.settle(DONE);
  expect(await execution.done).toEqual({ hasNextRun: true });
  expect(engine.finishRun).toHaveBeenCalledOnce();
});

it('a long attempt tells what it uses while it goes on, once a second', async () => {
  const recordUsage = vi.fn(async (_used: UsedRun) => undefined);
  const { run } = execute();
  const writer = new UsageWriter({ engine: { recordUsage }, run, onExhausted: vi.fn(), logger: quietLogger });
  for (const calls of [1, 2, 3]) writer.receive(usageOf(calls));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(recordUsage.mock.calls.map(([{ usage }]) => usage)).toEqual([usageOf(3)]);
  await writer.flush();
  expect(recordUsage).toHaveBeenCalledOnce();
});

const modelWith = (inputTokens: number) => ({
  ...{ provider: 'p', model: 'm', calls: 1, failed: 0, inputTokens, outputTokens: 0 },
  ...{ cacheReadTokens: 0, cacheCreationTokens: 0, reasoningTokens: 0 },
});

it('a host that reports less than before takes nothing back of what budgets have counted', async () => {
  const recordUsage = vi.fn(async (_used: UsedRun) => undefined);
  const run = { ...execute().run, budgets: 'shadow' as const };
  const writer = new UsageWriter({ engine: { recordUsage }, run, onExhausted: vi.fn(), logger: quietLogger });
  for (const tokens of [100, 40, 130]) {
    writer.receive({ models: [modelWith(tokens)], tools: [] });
    await writer.flush();
  }
  expect(recordUsage.mock.calls.map(([{ tokens }]) => tokens)).toEqual([100, 0, 30]);
});
