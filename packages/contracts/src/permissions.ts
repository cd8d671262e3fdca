import type { ErrorCodeOf } from './errors/catalogue.ts';

/** The permissions that roles give in a workspace. */
export const WORKSPACE_PERMISSIONS = [
  'workspaces:read',
  'workspaces:manage',
  'workspaces:manage-members',
  'workspaces:manage-keys',
  'deployments:create',
  'deployments:read',
  'deployments:update',
  'deployments:delete',
  'runs:create',
  'runs:read',
  'runs:update',
  'runs:delete',
] as const;
export type WorkspacePermission = (typeof WORKSPACE_PERMISSIONS)[number];

/** A permission that roles give in an organization. */
export type OrganizationPermission = 'organization:manage' | 'organization:read' | 'organization:pats:create';

/** `listener:speak` is the only permission of a listener's key. */
export type Permission = WorkspacePermission | OrganizationPermission | 'listener:speak';

/** A permission that the service checks itself, because it depends on more than the operation: `because` says on what. */
export interface PermissionOfService {
  checkedByService: Permission;
  because: string;
}

/** The permission that an operation requires of its callers. */
export type OperationPermission =
  | Permission
  /** One of them is enough. A refusal names the first. */
  | readonly [Permission, ...Permission[]]
  /** No role has to permit it: the answer is limited to what the key itself may see. */
  | 'any key'
  /** No role has to permit it: it changes what belongs to the caller. Read-only keys are refused. */
  | 'any key that writes'
  | PermissionOfService;

/** An answer (403) to callers without the permission. */
export interface PermissionRefusal {
  detail: string;
  code: ErrorCodeOf<403>;
}

/** An operation's demands on its callers. To leave out the permission of one with principals is a type error. */
export type OperationAccess =
  /** `public` operations are for anybody, `internal` ones for other services of the platform. */
  | { access: 'public' | 'internal'; permission?: undefined; plan?: undefined; refusal?: undefined }
  | {
      /** Callers with a principal token. */
      access: 'principal';
      permission: OperationPermission;
      /** The lowest plan of the caller's organization. */
      plan?: 'plus';
      /** Replaces the usual answer to callers without the permission. */
      refusal?: PermissionRefusal;
    };

/** Says in a sentence what an operation demands of its callers; undefined for one that takes no principal. */
export function describePermission({ permission, plan }: OperationAccess): string | undefined {
  if (permission === undefined) return undefined;
  return `${demandOf(permission)}${plan === undefined ? '' : ' and the plan Plus'}.`;
}

function demandOf(permission: OperationPermission): string {
  if (permission === 'any key') return 'Any key is enough';
  if (permission === 'any key that writes') return 'Any key that is not read-only is enough';
  if (typeof permission === 'object' && 'checkedByService' in permission) {
    return `Requires the permission \`${permission.checkedByService}\`: ${permission.because}`;
  }
  const sufficient = [permission].flat().map((each) => `\`${each}\``);
  return `Requires the permission ${sufficient.join(' or ')}`;
}
