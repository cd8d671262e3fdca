import { ConflictError } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { UNRESTRICTED } from '../scope.ts';
import { RunService, type RunServiceOptions } from './run-service.ts';

it('a cancel that meets a deadlock again and again is a conflict, not a fault of the service', async () => {
  const requestCancel = () => Promise.reject(Object.assign(new Error('deadlock detected'), { code: '40P01' }));
  const runs = new RunService({ engine: { requestCancel } } as unknown as RunServiceOptions);
  const cancel = runs.cancel(UNRESTRICTED, { status: 'all' }, 'interrupt', 'asked');
  await expect(cancel).rejects.toThrow(ConflictError);
});

it('a batch of any length takes a part of the shared queues at a time', async () => {
  let [waiting, most, created] = [0, 0, 0];
  const createRun = async () => {
    waiting += 1;
    most = Math.max(most, waiting);
    await new Promise((resolve) => setImmediate(resolve));
    waiting -= 1;
    created += 1;
    return { run: { runId: `r${created}`, threadId: 't' }, cancelled: [] };
  };
  const runs = new RunService({
    engine: { createRun },
    wakeups: { kick: () => undefined },
    assistants: { find: async () => ({ assistantId: 'a', graphId: 'g', config: {}, context: {}, metadata: {} }) },
    webhooks: { accept: async () => [] },
  } as unknown as RunServiceOptions);
  const origin = { scope: UNRESTRICTED, userId: '', requestId: '' };
  const accepted = await runs.createBatch(origin, Array(1_000).fill({ assistant_id: 'a' }));
  expect(accepted).toHaveLength(1_000);
  expect(most).toBeLessThanOrEqual(256);
});
