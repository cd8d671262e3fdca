import type { IdempotencyKeys } from '@runyard/idempotency';
import { ForbiddenError, type HandlerRequest } from '@runyard/service-kit';
import { expect, it, vi } from 'vitest';
import { RouteGuard } from '../auth/route-guard.ts';
import { threadRoutes } from './thread-routes.ts';
import type { ThreadService } from './thread-service.ts';

it('a ttl deletes in the end, and changing it requires the permission to', async () => {
  const threads = { patch: vi.fn(), get: vi.fn(async () => ({})) };
  const routes = threadRoutes(threads as unknown as ThreadService, {} as IdempotencyKeys, new RouteGuard());
  const { handler } = routes.find(({ operation }) => operation.operationId === 'patchThread')!;
  const patch = (permissions: string[], body: object) => {
    const caller = { workspaceId: 'w', permissions };
    return handler({ params: { thread_id: 't' }, body, headers: {}, caller } as unknown as HandlerRequest);
  };
  await expect(patch(['runs:update'], { ttl: { ttl: 0.001 } })).rejects.toThrow(ForbiddenError);
  expect(threads.patch).not.toHaveBeenCalled();
  await patch(['runs:update', 'runs:delete'], { ttl: { ttl: 1 } });
  await patch(['runs:update'], { metadata: {} });
  expect(threads.patch).toHaveBeenCalledTimes(2);
});
