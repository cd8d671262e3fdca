import type { ClaimedRun, DelayedRun } from '@runyard/run-engine';
import { TRACING_OFF } from '@runyard/tracing';
import { expect, it, vi } from 'vitest';
import { claimedRun, FakeHost, FakeStreams, quietLogger, workerMetrics } from '../../test/fakes.ts';
import { EventPublisher } from '../streams/event-publisher.ts';
import { Executions } from './executions.ts';
import type { ExecutionDeps } from './run-execution.ts';

/** Returns a run that is decrypted when the test says so. */
function delayedRun(claimed = claimedRun()): DelayedRun & { decrypt(run?: ClaimedRun): void } {
  let decrypt!: (run?: ClaimedRun) => void;
  const run = new Promise<ClaimedRun | undefined>((resolve) => {
    decrypt = resolve;
  });
  return { runId: claimed.runId, fence: claimed.fence, run, decrypt };
}

function executionsOn(fake: FakeHost, onSlotFree = () => undefined): Executions {
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
  return new Executions({ deps, onSlotFree });
}

it('a run that is not decrypted yet has its slot and the lease, and is executed once it is', async () => {
  const fake = new FakeHost();
  const executions = executionsOn(fake);
  const run = claimedRun();
  const delayed = delayedRun(run);
  executions.hold(delayed);
  expect([executions.size, executions.has(run.runId), executions.fences()]).toEqual([1, true, [run.fence]]);
  delayed.decrypt(run);
  await expect.poll(() => fake.runs).toHaveLength(1);
  expect([executions.size, executions.fences()]).toEqual([1, [run.fence]]);
  executions.loseAll();
  await expect.poll(() => executions.size).toBe(0);
});

it('a run that is not decrypted, or is lost before, frees its slot and is not executed', async () => {
  const fake = new FakeHost();
  const freed = vi.fn();
  const executions = executionsOn(fake, freed);
  const [refused, lost, dropped] = [delayedRun(), delayedRun(), delayedRun()];
  for (const delayed of [refused, lost, dropped]) executions.hold(delayed);
  refused.decrypt();
  await expect.poll(() => executions.size).toBe(2);
  executions.lose({ ...lost.fence, epoch: lost.fence.epoch + 1n });
  expect(executions.size).toBe(2);
  executions.lose(lost.fence);
  executions.loseAll();
  expect(executions.size).toBe(0);
  lost.decrypt(claimedRun({ runId: lost.runId, fence: lost.fence }));
  await executions.finishOrHandBack({ graceMs: 0, drainMs: 0 });
  expect([fake.runs, freed.mock.calls.length]).toEqual([[], 3]);
});

it('a run in flight is asked to stop at its next step once the grace has been ended', async () => {
  const fake = new FakeHost();
  const executions = executionsOn(fake);
  const run = claimedRun();
  executions.start(run);
  await expect.poll(() => fake.runs).toHaveLength(1);
  const ended = executions.finishOrHandBack({ graceMs: 3_600_000, drainMs: 3_600_000 });
  expect(fake.runs[0]!.drains).toBe(0);
  executions.endGrace();
  await expect.poll(() => fake.runs[0]!.drains).toBe(1);
  executions.lose(run.fence);
  await ended;
});

it('a grace that was ended before it has begun is none', async () => {
  const fake = new FakeHost();
  const executions = executionsOn(fake);
  const run = claimedRun();
  executions.start(run);
  await expect.poll(() => fake.runs).toHaveLength(1);
  executions.endGrace();
  const ended = executions.finishOrHandBack({ graceMs: 3_600_000, drainMs: 3_600_000 });
  await expect.poll(() => fake.runs[0]!.drains).toBe(1);
  executions.lose(run.fence);
  await ended;
});

it('a late loss of an attempt does not harm the next one, which this worker has as well', async () => {
  const fake = new FakeHost();
  const executions = executionsOn(fake);
  const first = claimedRun();
  const second = { ...first, attempt: 2, fence: { ...first.fence, epoch: first.fence.epoch + 1n } };
  executions.start(second);
  await expect.poll(() => fake.runs).toHaveLength(1);
  executions.lose(first.fence);
  expect(fake.runs[0]!.aborts).toEqual([]);
  executions.lose(second.fence);
  expect(fake.runs[0]!.aborts).toEqual(['the run was taken over']);
  await expect.poll(() => executions.size).toBe(0);
});

it('a run that begins while an earlier claim of it waits is not given up for that one', async () => {
  const fake = new FakeHost();
  const executions = executionsOn(fake);
  const run = claimedRun();
  const earlier = delayedRun(run);
  executions.hold(earlier);
  executions.start(run);
  earlier.decrypt(run);
  await expect.poll(() => fake.runs).toHaveLength(1);
  expect(executions.size).toBe(1);
  await earlier.run;
  expect(fake.runs).toHaveLength(1);
});
