import type { IdempotencyKeys } from '@runyard/idempotency';
import { ForbiddenError, type HandlerRequest } from '@runyard/service-kit';
import { expect, it, vi } from 'vitest';
import { RouteGuard } from '../auth/route-guard.ts';
import { cronRoutes } from './cron-routes.ts';
import type { CronService } from './cron-service.ts';

const crons = { create: vi.fn(async () => ({})), patch: vi.fn(async () => ({})) };
const keys = {
  once: (_: unknown, __: unknown, creation: { create(request: undefined): unknown }) => creation.create(undefined),
};
const routes = cronRoutes(crons as unknown as CronService, keys as unknown as IdempotencyKeys, new RouteGuard());

it.each(['createThreadCron', 'updateCron', 'updateCronAlias'])(
  '%s with runs that delete others of their thread requires the permission to',
  async (operationId) => {
    const { handler } = routes.find(({ operation }) => operation.operationId === operationId)!;
    const ask = (...permissions: string[]) =>
      handler({
        params: { thread_id: 't', cron_id: 'c' },
        body: { multitask_strategy: 'rollback' },
        caller: { workspaceId: 'w', identity: 'i', permissions: ['runs:create', 'runs:update', ...permissions] },
      } as unknown as HandlerRequest);
    await expect(ask()).rejects.toThrow(ForbiddenError);
    await ask('runs:delete');
    expect(crons.create.mock.calls.length + crons.patch.mock.calls.length).toBe(1);
    vi.clearAllMocks();
  },
);
