import type { PermissionMeaning, Role, RoleCreate, RoleUpdate } from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { at } from './path.ts';

const ROLES_FRESH_MS = 30_000;

/** The roles of the organization, those of the platform first. */
export function rolesQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['roles', workspaceId],
    queryFn: ({ signal }) => ask<Role[]>(at`/api/v1/orgs/current/roles`, { workspaceId, signal }),
    staleTime: ROLES_FRESH_MS,
  });
}

/** Every permission with its meaning. */
export function permissionsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['permissions', workspaceId],
    queryFn: ({ signal }) => ask<PermissionMeaning[]>(at`/api/v1/orgs/permissions`, { workspaceId, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Repeated with the same key, it makes no second role. @throws PlatformError */
export function createRole(workspaceId: string, body: RoleCreate, key: string): Promise<Role> {
  const headers = { 'idempotency-key': key };
  return ask<Role>(at`/api/v1/orgs/current/roles`, { method: 'POST', workspaceId, body, headers });
}

/** @throws PlatformError */
export function updateRole(workspaceId: string, id: string, body: RoleUpdate): Promise<Role> {
  return ask<Role>(at`/api/v1/orgs/current/roles/${id}`, { method: 'PATCH', workspaceId, body });
}

/** @throws PlatformError, with status 409 while somebody has the role */
export function deleteRole(workspaceId: string, id: string): Promise<Role> {
  return ask<Role>(at`/api/v1/orgs/current/roles/${id}`, { method: 'DELETE', workspaceId });
}
