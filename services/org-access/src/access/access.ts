import type { OrganizationPlan } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import { permissionsInWorkspaces, readPoliciesOfRoles } from './effective-policies.ts';
import { PLATFORM_ROLES } from './platform-roles.ts';
import type { EffectivePolicy } from './policy-decision.ts';
import { decideWorkspaceRole, type WorkspaceRoleOrigin } from './workspace-role.ts';

/** The permissions of an identity. `workspace` is about the one workspace asked for. */
export interface Access {
  organizationRoleId: string;
  /** The plan of the identity's organization. */
  plan: OrganizationPlan;
  /** Addresses and networks from which the organization may be used; null: from everywhere. */
  allowedNetworks: string[] | null;
  organization: string[];
  /** After policies about the workspace. Null when the identity does not reach it, or none was asked for. */
  workspace: string[] | null;
  /** The role behind the permissions in the workspace, and what gives it. */
  workspaceRole: { id: string; via: WorkspaceRoleOrigin } | null;
  /** The access policies of the roles; none where the workspace is not reached. */
  policies: readonly EffectivePolicy[];
}

const ROLE = { select: { id: true, permissions: true } } as const;

/** Selects the identity with its roles, and its membership of at most the workspace asked for. */
const roleRelations = (workspaceId: string | null) =>
  ({
    organizationRole: ROLE,
    organization: { select: { plan: true, ipAllowlist: true, ipAllowlistEnabled: true, hasAccessPolicies: true } },
    everywhereRole: ROLE,
    members: {
      where: { workspaceId: workspaceId ?? NO_WORKSPACE },
      select: { role: ROLE },
    },
  }) as const;

const NO_WORKSPACE = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the permissions of an identity in its organization and in one of its workspaces. Organization administrators
 * administer every workspace. A membership overrides the role that an identity has everywhere. Null when there is no
 * such identity or it is disabled.
 */
export async function accessOf(
  queries: Queries,
  scope: {
    organizationId: string;
    identityId: string;
    workspaceId: string | null;
    /** True for an explanation: says what a disabled identity would have. Checks never set it. */
    includeDisabled?: boolean;
  },
): Promise<Access | null> {
  const { organizationId, identityId, workspaceId, includeDisabled = false } = scope;
  const identity = await queries.identity.findUnique({
    where: { organizationId_id: { organizationId, id: identityId } },
    include: roleRelations(workspaceId),
  });
  if (!identity || (identity.disabledAt && !includeDisabled)) return null;
  const isAdmin = identity.organizationRoleId === PLATFORM_ROLES.organizationAdmin;
  const organization = identity.organizationRole.permissions;
  const { plan, ipAllowlist, ipAllowlistEnabled, hasAccessPolicies } = identity.organization;
  const base = {
    organizationRoleId: identity.organizationRoleId,
    plan: plan as OrganizationPlan,
    allowedNetworks: ipAllowlistEnabled ? ipAllowlist : null,
    organization,
    workspace: null,
    workspaceRole: null,
    policies: [],
  };
  if (!workspaceId) return base;

  const exists = await queries.workspace.findFirst({
    where: { organizationId, id: workspaceId, deletedAt: null },
    select: { id: true },
  });
  if (!exists) return base;
  const decided = decideWorkspaceRole({
    organizationRoleId: identity.organizationRoleId,
    membership: identity.members[0]?.role,
    everywhere: identity.everywhereRole,
    administrator: isAdmin
      ? await queries.role.findUniqueOrThrow({ where: { id: PLATFORM_ROLES.workspaceAdmin }, ...ROLE })
      : null,
  });
  if (!decided) return base;
  const { role, via } = decided;
  const policies = hasAccessPolicies
    ? await readPoliciesOfRoles(queries, organizationId, [identity.organizationRoleId, role.id])
    : [];
  const inWorkspace = { workspaceId, permissions: role.permissions, policies };
  const permissions = await permissionsInWorkspaces(queries, organizationId, [inWorkspace]);
  return { ...base, workspace: permissions.get(workspaceId)!, workspaceRole: { id: role.id, via }, policies };
}

/**
 * Returns whether an identity reaches a workspace of its organization. Disabled identities and service accounts without
 * keys do not.
 */
export async function reachesWorkspace(
  queries: Queries,
  scope: { organizationId: string; identityId: string; workspaceId: string },
): Promise<boolean> {
  return (await accessOf(queries, scope))?.workspace != null && (await isUnexpired(queries, scope));
}

/**
 * Returns whether an identity can act in this organization. Disabled identities and service accounts without keys
 * cannot.
 */
export async function isActiveIdentity(
  queries: Queries,
  scope: { organizationId: string; identityId: string },
): Promise<boolean> {
  return (await accessOf(queries, { ...scope, workspaceId: null })) !== null && (await isUnexpired(queries, scope));
}

/**
 * Returns whether a service account has a key. It ends with its last key, although its row is disabled a little later.
 * The organization's first account never expires.
 */
async function isUnexpired(
  queries: Queries,
  { organizationId, identityId }: { organizationId: string; identityId: string },
): Promise<boolean> {
  const hasKey = { some: { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] } };
  const identity = await queries.identity.findFirst({
    where: {
      organizationId,
      id: identityId,
      OR: [{ kind: { not: 'service_account' } }, { isBootstrap: true }, { keys: hasKey }],
    },
    select: { id: true },
  });
  return identity !== null;
}
