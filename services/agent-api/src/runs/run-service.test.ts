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
