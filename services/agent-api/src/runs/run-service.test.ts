import { ConflictError } from '@runyard/service-kit';
import { TRACING_OFF } from '@runyard/tracing';
import { expect, it } from 'vitest';
import { UNRESTRICTED } from '../access/scope.ts';
import { RunService, type RunServiceOptions } from './run-service.ts';

it('a cancel that meets a deadlock again and again is a conflict, not a fault of the service', async () => {
  const requestCancel = () => Promise.reject(Object.assign(new Error('deadlock detected'), { code: '40P01' }));
  const runs = new RunService({ engine: { requestCancel } } as unknown as RunServiceOptions);
  const cancel = runs.cancel(UNRESTRICTED, { status: 'all' }, 'interrupt', 'asked');
  await expect(cancel).rejects.toThrow(ConflictError);
});

it('a batch of any length takes a part of the shared queues at a time', async () => {
  let [asking, most] = [0, 0];
  const find = async () => {
    asking += 1;
    most = Math.max(most, asking);
    await new Promise((resolve) => setImmediate(resolve));
    asking -= 1;
    return { assistantId: 'a', graphId: 'g', config: {}, context: {}, metadata: {} };
  };
  const createRunsTogether = async (runs: unknown[]) =>
    runs.map((_, index) => ({ run: { runId: `r${index}`, threadId: 't' }, cancelled: [] }));
  const runs = new RunService({
    engine: { createRunsTogether },
    wakeups: { wake: () => undefined },
    assistants: { find },
    webhooks: { accept: async () => [] },
    tracing: TRACING_OFF,
  } as unknown as RunServiceOptions);
  const creator = { kind: 'internal', identity: '' };
  const origin = { scope: UNRESTRICTED, assistantScope: UNRESTRICTED, creator, userId: '', requestId: '' };
  const requests = Array(1_000).fill({ origin, body: { assistant_id: 'a' } });
  expect(await runs.createBatch(requests)).toHaveLength(1_000);
  expect(most).toBeLessThanOrEqual(256);
});
