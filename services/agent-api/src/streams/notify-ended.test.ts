import { type AppendEvent, StaleEpochError, type StreamFence } from '@runyard/run-stream';
import type { Logger } from '@runyard/service-kit';
import { expect, it, vi } from 'vitest';
import { notifyCancelled, notifyDeleted } from './notify-ended.ts';

const fence = { threadId: 't', epoch: 5n, runId: 'r' };

/** A stream whose thread has an owner of epoch 9. */
function createParts() {
  const appended: { epoch: bigint; kinds: string[] }[] = [];
  const publishCancel = vi.fn(async () => undefined);
  const streams = {
    append: async ({ threadId, epoch }: StreamFence, events: AppendEvent[]) => {
      if (epoch < 9n) throw new StaleEpochError(threadId, epoch);
      appended.push({ epoch, kinds: events.map(({ kind }) => kind) });
      return [];
    },
    publishCancel,
  };
  const engine = { currentEpoch: async () => 9n };
  const warn = vi.fn();
  return { appended, warn, publishCancel, options: { engine, streams, logger: { warn } as unknown as Logger } };
}

it('the end of a run that never started is published, also when the thread has a newer owner by then', async () => {
  const { appended, warn, options } = createParts();
  const run = { runId: 'r', threadId: 't', attempt: 0, action: 'interrupt', outcome: 'ended', fence } as const;
  await notifyCancelled(options, [run]);
  expect(appended).toEqual([{ epoch: 9n, kinds: ['run.end'] }]);
  expect(warn).not.toHaveBeenCalled();
});

it("the worker of a cancelled run is notified, with no more than the run's id", async () => {
  const { appended, publishCancel, options } = createParts();
  const run = { runId: 'r', threadId: 't', attempt: 1, action: 'interrupt', outcome: 'ordered', fence } as const;
  await notifyCancelled(options, [run]);
  expect(publishCancel).toHaveBeenCalledWith({ runId: 'r', threadId: 't' });
  expect(appended).toEqual([]);
});

it('the worker and the watchers of a deleted run are notified', async () => {
  const { appended, publishCancel, options } = createParts();
  await notifyDeleted(options, [{ runId: 'r', attempt: 1, fence }]);
  expect(publishCancel).toHaveBeenCalledWith({ runId: 'r', threadId: 't' });
  expect(appended).toEqual([{ epoch: 9n, kinds: ['run.end'] }]);
});
