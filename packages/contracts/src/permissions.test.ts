import { describe, expect, it } from 'vitest';
import { AGENT_SERVER_OPERATIONS } from './http/agent-server/index.ts';
import { defineOperation, type Operation } from './operation.ts';
import { describePermission } from './permissions.ts';

const base = { method: 'get' as const, path: '/things', summary: '', tags: [], responses: {} };

describe('an operation', () => {
  it('for principals that names no permission does not compile', () => {
    // @ts-expect-error: `permission` is missing
    const undeclared: Operation = { ...base, operationId: 'listThings', access: 'principal' };
    expect(undeclared.permission).toBeUndefined();
    defineOperation({ ...base, operationId: 'listThings', access: 'principal', permission: 'runs:read' });
  });

  it('for anybody names no permission, which nobody would check', () => {
    // @ts-expect-error: `permission` is for operations with principals
    const unchecked: Operation = { ...base, operationId: 'listThings', access: 'public', permission: 'runs:read' };
    expect(unchecked.access).toBe('public');
  });
});

it.each([
  ['runs:read' as const, undefined, 'Requires the permission `runs:read`.'],
  ['deployments:create' as const, 'plus' as const, 'Requires the permission `deployments:create` and the plan Plus.'],
  [
    ['deployments:update', 'listener:speak'] as const,
    undefined,
    'Requires the permission `deployments:update` or `listener:speak`.',
  ],
  ['any key' as const, undefined, 'Any key is enough.'],
  ['any key that writes' as const, undefined, 'Any key that is not read-only is enough.'],
  ['signed-in person' as const, undefined, 'Requires a session: keys are refused.'],
  [
    { checkedByService: 'workspaces:manage-keys', because: 'in each workspace' } as const,
    undefined,
    'Requires the permission `workspaces:manage-keys`: in each workspace.',
  ],
])('the documentation of %j with the plan %s says "%s"', (permission, plan, text) => {
  expect(describePermission({ access: 'principal', permission, ...(plan && { plan }) })).toBe(text);
});

describe('the permission on a deployment', () => {
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
  ] as const)('of %s %s is %s', (method, path, permission) => {
    const operation = AGENT_SERVER_OPERATIONS.find((one) => one.method === method && one.path === path);
    expect(operation?.permission).toBe(permission);
  });
});
