import type { Queries } from '../database/database.ts';
import type { Role, Workspace } from '../generated/client.ts';
import { permissionsInWorkspaces, readPoliciesOfRoles } from './effective-policies.ts';
import { PLATFORM_ROLES } from './platform-roles.ts';
import type { EffectivePolicy } from './policy-decision.ts';
import { decideWorkspaceRole } from './workspace-role.ts';

export interface ReachableWorkspace {
  workspace: Workspace;
  /** Null in a deleted workspace. */
  role: Pick<Role, 'id' | 'displayName'> | null;
  /** After policies about the workspace. */
  permissions: string[];
  /** The access policies of the identity's roles there. */
  policies: readonly EffectivePolicy[];
}

const ROLE = { select: { id: true, displayName: true, permissions: true } } as const;

/**
 * Returns the workspaces of `organizationId` that an identity reaches, with its role in each, the oldest first. The rules
 * are those of `accessOf`.
 *
 * @param options.includeDeleted those too that were deleted, for identities that reach every workspace
 * @param options.id only this workspace
 */
export async function listReachableWorkspaces(
  queries: Queries,
  scope: { organizationId: string; identityId: string },
  options: { includeDeleted?: boolean; id?: string } = {},
): Promise<ReachableWorkspace[]> {
  const { organizationId, identityId } = scope;
  const identity = await queries.identity.findUnique({
    where: { organizationId_id: { organizationId, id: identityId } },
    include: {
      everywhereRole: ROLE,
      members: { select: { workspaceId: true, role: ROLE } },
      organization: { select: { hasAccessPolicies: true } },
    },
  });
  if (!identity || identity.disabledAt) return [];
  const isAdmin = identity.organizationRoleId === PLATFORM_ROLES.organizationAdmin;
  const administrator = isAdmin
    ? await queries.role.findUniqueOrThrow({ where: { id: PLATFORM_ROLES.workspaceAdmin }, ...ROLE })
    : null;
  const everywhere = administrator ?? identity.everywhereRole;
  const workspaces = await queries.workspace.findMany({
    where: {
      organizationId,
      ...(options.id !== undefined && { id: options.id }),
      ...(everywhere && options.includeDeleted ? {} : { deletedAt: null }),
      ...(everywhere ? {} : { members: { some: { identityId } } }),
    },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  const own = new Map(identity.members.map(({ workspaceId, role }) => [workspaceId, role]));
  const roleIn = (workspaceId: string) =>
    decideWorkspaceRole({
      organizationRoleId: identity.organizationRoleId,
      membership: own.get(workspaceId),
      everywhere: identity.everywhereRole,
      administrator,
    })?.role ?? null;
  const reached = workspaces.map((workspace) => ({
    workspace,
    role: workspace.deletedAt ? null : roleIn(workspace.id),
  }));
  const { organizationRoleId } = identity;
  const roleIds = [...new Set([organizationRoleId, ...reached.flatMap(({ role }) => role?.id ?? [])])];
  const attached = identity.organization.hasAccessPolicies
    ? await readPoliciesOfRoles(queries, organizationId, roleIds)
    : [];
  const withPolicies = reached.map(({ workspace, role }) => ({
    workspace,
    role,
    policies: attached.filter(({ roleIds: of }) => of.includes(organizationRoleId) || (role && of.includes(role.id))),
  }));
  const permissions = await permissionsInWorkspaces(
    queries,
    organizationId,
    withPolicies.map(({ workspace, role, policies }) => ({
      ...{ workspaceId: workspace.id, policies },
      permissions: role?.permissions ?? [],
    })),
  );
  return withPolicies.map((each) => ({ ...each, permissions: each.role ? permissions.get(each.workspace.id)! : [] }));
}
