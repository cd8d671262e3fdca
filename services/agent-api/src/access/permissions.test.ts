import { AGENT_SERVER_OPERATIONS } from '@runyard/contracts';
import { type BoundOperation, type HandlerRequest, noContent, type Principal } from '@runyard/service-kit';
import { describe, expect, it } from 'vitest';
import { requireOperationPermission } from './permissions.ts';

const viewer: Principal = {
  kind: 'service_key',
  identity: 'viewer',
  organizationId: 'organization',
  organizationRole: 'viewer',
  permissions: ['deployments:read', 'runs:read'],
};

function operationOf(method: string, path: string) {
  const operation = AGENT_SERVER_OPERATIONS.find((one) => one.method === method && one.path === path);
  if (!operation) throw new Error(`there is no ${method} ${path}`);
  return operation;
}

function call(method: 'get' | 'post', path: string, caller: Principal) {
  const bound: BoundOperation = { operation: operationOf(method, path), handler: async () => noContent() };
  return requireOperationPermission(bound).handler({ caller } as HandlerRequest);
}

describe('what a role lets a caller do on a deployment', () => {
  it.each([
    ['get', '/threads/{thread_id}/state', 'runs:read'],
    ['get', '/threads/{thread_id}/runs/{run_id}/stream', 'runs:read'],
    ['post', '/threads/search', 'runs:read'],
    ['post', '/threads/{thread_id}/history', 'runs:read'],
    ['post', '/threads/{thread_id}/state/checkpoint', 'runs:read'],
    ['post', '/store/items/search', 'runs:read'],
    ['post', '/threads/{thread_id}/state', 'runs:update'],
    ['post', '/threads/{thread_id}/runs/{run_id}/cancel', 'runs:update'],
    ['put', '/store/items', 'runs:update'],
    ['patch', '/threads/{thread_id}', 'runs:update'],
    ['delete', '/store/items', 'runs:update'],
    ['post', '/runs/wait', 'runs:create'],
    ['post', '/threads/{thread_id}/runs/stream', 'runs:create'],
    ['post', '/threads', 'runs:create'],
    ['delete', '/threads/{thread_id}', 'runs:delete'],
    ['delete', '/threads/{thread_id}/runs/{run_id}', 'runs:delete'],
  ] as const)('%s %s requires the permission %s', (method, path, permission) => {
    expect(operationOf(method, path).permission).toBe(permission);
  });

  it('a read-only key reads, and starts nothing', async () => {
    await expect(call('post', '/threads/search', viewer)).resolves.toMatchObject({ status: 204 });
    await expect(call('post', '/runs/wait', viewer)).rejects.toMatchObject({
      status: 403,
      message: 'You may not do this in the workspace: runs:create is missing',
    });
  });

  it('a caller without permissions may do nothing, an administrator of the organization everything', async () => {
    const nobody: Principal = { ...viewer, permissions: [] };
    await expect(call('get', '/threads/{thread_id}', nobody)).rejects.toMatchObject({ status: 403 });
    await expect(call('post', '/runs/wait', { ...nobody, organizationRole: 'admin' })).resolves.toBeDefined();
  });
});
