import { AGENT_SERVER_OPERATIONS, type OperationAccess } from '@runyard/contracts';
import { describe, expect, it } from 'vitest';
import type { BoundOperation, HandlerRequest } from './http/bind.ts';
import { noContent } from './http/reply.ts';
import { authorize, requireOperationPermission, requirePermission, tenantOf } from './permissions.ts';
import type { Principal } from './principal.ts';

const viewer: Principal = {
  kind: 'service_key',
  identity: 'viewer',
  organizationId: 'organization',
  workspaceId: 'workspace',
  organizationRole: 'viewer',
  permissions: ['deployments:read', 'runs:read'],
};
const { workspaceId: _, ...nowhere } = viewer;

const onPrincipals = (rest: Omit<OperationAccess & { access: 'principal' }, 'access'>): OperationAccess => ({
  access: 'principal',
  ...rest,
});

/** Returns the detail of the refusal; undefined when the caller may go on. */
function refusalOf(caller: Principal, access: OperationAccess): string | undefined {
  try {
    authorize(caller, access);
  } catch (error) {
    expect(error).toMatchObject({ status: 403 });
    return (error as Error).message;
  }
  return undefined;
}

describe('what an operation declares', () => {
  it('a caller with the permission goes on, and one without it is told which is missing and where', () => {
    expect(refusalOf(viewer, onPrincipals({ permission: 'runs:read' }))).toBeUndefined();
    expect(refusalOf(viewer, onPrincipals({ permission: 'runs:create' }))).toBe(
      'You may not do this in the workspace: runs:create is missing',
    );
    expect(refusalOf(viewer, onPrincipals({ permission: 'organization:manage' }))).toBe(
      'You may not do this in the organization: organization:manage is missing',
    );
    const refusal = { detail: 'Administrators alone', code: 'organization_admin_required' } as const;
    expect(refusalOf(viewer, onPrincipals({ permission: 'organization:manage', refusal }))).toBe(refusal.detail);
  });

  it('no role makes up for a missing permission', () => {
    const administrator: Principal = { ...viewer, organizationRole: 'admin', permissions: [] };
    expect(refusalOf(administrator, onPrincipals({ permission: 'runs:read' }))).toContain('runs:read is missing');
  });

  it('a caller in no workspace is told to name one, unless the permission is of the organization', () => {
    const caller: Principal = { ...nowhere, permissions: [] };
    expect(refusalOf(caller, onPrincipals({ permission: 'runs:read' }))).toContain('requires workspace specification');
    expect(refusalOf(caller, onPrincipals({ permission: 'organization:read' }))).toContain('is missing');
    expect(() => tenantOf(caller)).toThrow('requires workspace specification');
    expect(tenantOf(viewer)).toEqual({ organizationId: 'organization', workspaceId: 'workspace' });
  });

  it('a caller in a deleted workspace finds nothing of it, and the rest of the organization', () => {
    const caller: Principal = { ...nowhere, permissions: ['organization:read'], isWorkspaceDeleted: true };
    const missing = { status: 404, message: 'Workspace not found' };
    expect(() => tenantOf(caller)).toThrow(expect.objectContaining(missing));
    const ofWorkspace = onPrincipals({ permission: 'runs:read' });
    expect(() => authorize(caller, ofWorkspace)).toThrow(expect.objectContaining(missing));
    expect(refusalOf(caller, onPrincipals({ permission: 'organization:read' }))).toBeUndefined();
  });

  it('of several permissions one is enough, and a refusal names the first', () => {
    const access = onPrincipals({ permission: ['deployments:update', 'listener:speak'] });
    expect(refusalOf({ ...viewer, permissions: ['listener:speak'] }, access)).toBeUndefined();
    expect(refusalOf({ ...viewer, permissions: ['deployments:update'] }, access)).toBeUndefined();
    expect(refusalOf(viewer, access)).toContain('deployments:update is missing');
  });

  it('what belongs to the caller is read with any key, and changed with any but a read-only one', () => {
    const readOnly: Principal = { ...nowhere, permissions: [], isReadOnly: true };
    expect(refusalOf(readOnly, onPrincipals({ permission: 'any key' }))).toBeUndefined();
    expect(refusalOf(readOnly, onPrincipals({ permission: 'any key that writes' }))).toBe('This key only reads');
    const writing: Principal = { ...readOnly, isReadOnly: false };
    expect(refusalOf(writing, onPrincipals({ permission: 'any key that writes' }))).toBeUndefined();
  });

  it('a plan is required after the permission, and one that is not known is enough', () => {
    const access = onPrincipals({ permission: 'deployments:read', plan: 'plus' });
    expect(refusalOf({ ...viewer, plan: 'developer' }, access)).toContain('not enabled');
    expect(refusalOf({ ...viewer, plan: 'plus' }, access)).toBeUndefined();
    expect(refusalOf(viewer, access)).toBeUndefined();
    expect(refusalOf({ ...viewer, plan: 'developer', permissions: [] }, access)).toContain('is missing');
  });

  it('operations without principals, and those that the service checks, are passed on', () => {
    const nobody: Principal = { ...nowhere, permissions: [] };
    expect(refusalOf(nobody, { access: 'public' })).toBeUndefined();
    expect(refusalOf(nobody, { access: 'internal' })).toBeUndefined();
    const permission = { checkedByService: 'workspaces:manage-keys', because: 'it depends on the key' } as const;
    expect(refusalOf(nobody, onPrincipals({ permission }))).toBeUndefined();
  });

  it('an operation for principals that declares nothing is refused to all', () => {
    const undeclared = { access: 'principal' } as OperationAccess;
    expect(() => authorize({ ...viewer, organizationRole: 'admin' }, undeclared)).toThrow();
  });
});

it('a request of a caller without the permission never gets to the handler', async () => {
  const operation = AGENT_SERVER_OPERATIONS.find(({ operationId }) => operationId === 'createRun')!;
  let requests = 0;
  const bound: BoundOperation = {
    operation,
    handler: async () => {
      requests += 1;
      return noContent();
    },
  };
  const { handler } = requireOperationPermission(bound);
  await expect(handler({ caller: viewer } as HandlerRequest)).rejects.toMatchObject({ status: 403 });
  expect(requests).toBe(0);
  await handler({ caller: { ...viewer, permissions: ['runs:create'] } } as unknown as HandlerRequest);
  expect(requests).toBe(1);
});

it('a handler requires a further permission with the same refusal', () => {
  expect(() => requirePermission(viewer, 'runs:delete')).toThrow(
    'You may not do this in the workspace: runs:delete is missing',
  );
  expect(() => requirePermission(viewer, 'runs:read')).not.toThrow();
});
