import { TRACING_OFF } from '@runyard/tracing';
import { expect, it, vi } from 'vitest';
import { claimedRun, FakeHost, FakeStreams, quietLogger, workerMetrics } from '../../test/fakes.ts';
import { EventPublisher } from '../streams/event-publisher.ts';
import { Executions } from './executions.ts';
import type { ExecutionDeps } from './run-execution.ts';

function executionsOn(fake: FakeHost): Executions {
  const metrics = workerMetrics();
  const streams = new FakeStreams();
  const deps: ExecutionDeps = {
    // A lost attempt writes nothing.
    engine: {} as ExecutionDeps['engine'],
    publisher: new EventPublisher({
      streams,
      metrics,
      logger: quietLogger,
      currentEpoch: async () => undefined,
      storedPosition: async () => undefined,
    }),
    takeSlot: () => ({
      host: fake.host,
      crashAttribution: () => 'none',
      reportUnresponsive: () => undefined,
      markBegun: () => undefined,
      onUnresponsive: () => undefined,
      release: () => undefined,
    }),
    checkpointsFor: () => undefined,
    storeFor: () => ({ batch: async () => [] }),
    metrics,
    tracing: TRACING_OFF,
    logger: quietLogger,
    timeoutMs: 60_000,
    abortGraceMs: 3_000,
    hostGraceMs: 5_000,
  };
  return new Executions({ deps, onSlotFree: () => undefined });
}

it('a late loss of an attempt does not harm the next one, which this worker has as well', async () => {
  const fake = new FakeHost();
  const executions = executionsOn(fake);
  const first = claimedRun();
  const second = { ...first, attempt: 2, fence: { ...first.fence, epoch: first.fence.epoch + 1n } };
  executions.start(second);
  await vi.waitFor(() => expect(fake.runs).toHaveLength(1));
  executions.lose(first.fence);
  expect(fake.runs[0]!.aborts).toEqual([]);
  executions.lose(second.fence);
  expect(fake.runs[0]!.aborts).toEqual(['the run was taken over']);
  await vi.waitFor(() => expect(executions.size).toBe(0));
});
