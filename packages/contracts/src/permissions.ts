import type { ErrorCodeOf } from './errors/catalogue.ts';

/** The meaning of each permission that roles give in a workspace. */
export const WORKSPACE_PERMISSION_MEANINGS = {
  'workspaces:read': 'See the workspace, its members, its tags and the names of its secrets.',
  'workspaces:manage': 'Rename the workspace, and change its secrets and tags.',
  'workspaces:manage-members': 'Add, change and remove members of the workspace.',
  'workspaces:manage-keys': 'Make and revoke keys of the workspace.',
  'deployments:create': 'Create deployments, listeners and integrations.',
  'deployments:read': 'See deployments, their revisions and their logs.',
  'deployments:update': 'Change deployments and make revisions.',
  'deployments:delete': 'Delete deployments, listeners and integrations.',
  'deployments:halt': 'Halt and resume deployments, and the whole workspace.',
  'runs:create': 'Create threads, runs, assistants and crons.',
  'runs:read': 'See threads, runs, assistants, crons and the store.',
  'runs:update': 'Change threads, assistants, crons and the store, and cancel runs.',
  'runs:delete': 'Delete threads, runs, assistants and crons.',
} as const;
export type WorkspacePermission = keyof typeof WORKSPACE_PERMISSION_MEANINGS;

/** The permissions that roles give in a workspace. */
export const WORKSPACE_PERMISSIONS = Object.keys(WORKSPACE_PERMISSION_MEANINGS) as readonly WorkspacePermission[];

/** The meaning of each permission that roles give in an organization. */
export const ORGANIZATION_PERMISSION_MEANINGS = {
  'organization:manage': 'Change the organization, its members, its roles and its workspaces.',
  'organization:read': 'See the organization, its members and its roles.',
  'organization:pats:create': 'Make personal access tokens.',
} as const;
type OrganizationPermission = keyof typeof ORGANIZATION_PERMISSION_MEANINGS;

/**
 * `listener:speak` is the only permission of a listener's key, `platform:speak` that of the key of the platform's own
 * data planes.
 */
export type Permission = WorkspacePermission | OrganizationPermission | 'listener:speak' | 'platform:speak';

/** A permission that the service checks itself, because it depends on more than the operation: `because` says on what. */
interface PermissionOfService {
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
  /** A person who signed in, in an organization or in none: it is about the person. Keys are refused. */
  | 'signed-in person'
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

/** Returns whether callers have the permission in a workspace, which then has to be there. */
export function isOfWorkspace(permission: OperationPermission): boolean {
  const named =
    typeof permission === 'object' && 'checkedByService' in permission ? permission.checkedByService : permission;
  return WORKSPACE_PERMISSIONS.some((each) => each === [named].flat()[0]);
}

/** Says in a sentence what an operation demands of its callers; undefined for one that takes no principal. */
export function describePermission({ permission, plan }: OperationAccess): string | undefined {
  if (permission === undefined) return undefined;
  return `${demandOf(permission)}${plan === undefined ? '' : ' and the plan Plus'}.`;
}

function demandOf(permission: OperationPermission): string {
  if (permission === 'any key') return 'Any key is enough';
  if (permission === 'any key that writes') return 'Any key that is not read-only is enough';
  if (permission === 'signed-in person') return 'Requires a session: keys are refused';
  if (typeof permission === 'object' && 'checkedByService' in permission) {
    return `Requires the permission \`${permission.checkedByService}\`: ${permission.because}`;
  }
  const sufficient = [permission].flat().map((each) => `\`${each}\``);
  return `Requires the permission ${sufficient.join(' or ')}`;
}
