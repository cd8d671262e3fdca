import type { IdempotencyKeys } from '@runyard/idempotency';
import type { BoundOperation, HandlerRequest } from '@runyard/service-kit';
import { ForbiddenError, UnprocessableError } from '@runyard/service-kit';
import { expect, it, vi } from 'vitest';
import { RouteGuard } from '../auth/route-guard.ts';
import type { RunAnswers } from './run-answers.ts';
import { runRoutes } from './run-routes.ts';
import type { RunService } from './run-service.ts';

const cancel = vi.fn(async () => []);
const created = { record: { runId: 'r', threadId: 't', kwargs: {}, createdAt: new Date(), updatedAt: new Date() } };
const create = vi.fn(async () => created);
const answers = { join: vi.fn(), joinStream: vi.fn(), stream: vi.fn(), wait: vi.fn() };
const keys = {
  once: (_: unknown, __: unknown, creation: { create(request: undefined): unknown }) => creation.create(undefined),
};
const routes = runRoutes({
  runs: { cancel, create } as unknown as RunService,
  answers: answers as unknown as RunAnswers,
  keys: keys as unknown as IdempotencyKeys,
  guard: new RouteGuard(),
  configurableHeaders: () => ({}),
});

function call(operationId: string, request: object): ReturnType<BoundOperation['handler']> {
  const { handler } = routes.find(({ operation }) => operation.operationId === operationId)!;
  const caller = { workspaceId: 'w', permissions: ['runs:update'] };
  return handler({ params: {}, query: {}, caller, ...request } as unknown as HandlerRequest);
}

it.each(['cancelRun', 'cancelRuns'])(
  '%s with rollback deletes, and requires the permission to',
  async (operationId) => {
    const request = { params: { thread_id: 't', run_id: 'r' }, body: { status: 'all' } };
    await expect(call(operationId, { ...request, query: { action: 'rollback' } })).rejects.toThrow(ForbiddenError);
    const mayDelete = { workspaceId: 'w', permissions: ['runs:update', 'runs:delete'] };
    await call(operationId, { ...request, query: { action: 'rollback' }, caller: mayDelete });
    await call(operationId, request);
    expect(cancel).toHaveBeenCalledTimes(2);
    cancel.mockClear();
  },
);

it.each(['createRun', 'streamRun', 'waitRun'])(
  '%s that ends or deletes other runs of the thread requires the permission to',
  async (operationId) => {
    const ask = (multitask_strategy: string, ...permissions: string[]) =>
      call(operationId, {
        params: { thread_id: 't' },
        body: { assistant_id: 'a', multitask_strategy },
        headers: {},
        res: { getHeader: () => 'id' },
        caller: { workspaceId: 'w', permissions: ['runs:create', ...permissions] },
      });
    await expect(ask('interrupt')).rejects.toThrow(ForbiddenError);
    await expect(ask('rollback', 'runs:update')).rejects.toThrow(ForbiddenError);
    expect(create).not.toHaveBeenCalled();
    await ask('enqueue');
    await ask('interrupt', 'runs:update');
    await ask('rollback', 'runs:delete');
    expect(create).toHaveBeenCalledTimes(3);
    create.mockClear();
  },
);

it.each(['joinRun', 'joinRunStream', 'joinRunStreamAlias', 'joinStatelessRunStream'])(
  '%s that ends the run when its client leaves requires the permission to change it',
  async (operationId) => {
    const caller = { workspaceId: 'w', permissions: ['runs:read'] };
    const leaving = { query: { cancel_on_disconnect: '1' } };
    await expect(call(operationId, { ...leaving, caller })).rejects.toThrow(ForbiddenError);
    await call(operationId, leaving);
    await call(operationId, { query: { cancel_on_disconnect: '0' }, caller });
  },
);

it('a cancel without a selection is refused', async () => {
  for (const body of [{}, { thread_id: 't' }, { run_ids: ['r'] }, { run_ids: ['r'], status: 'all' }]) {
    await expect(call('cancelRuns', { body })).rejects.toThrow(UnprocessableError);
  }
  expect(cancel).not.toHaveBeenCalled();
});
