import type { OrganizationPlan } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import { PLATFORM_ROLES } from './platform-roles.ts';

/** What an identity may do; `workspace` is about the one workspace asked for. */
export interface Access {
  organizationRoleId: string;
  /** What its organization has booked. */
  plan: OrganizationPlan;
  organization: string[];
  /** Null: the identity does not reach that workspace, or none was asked for. */
  workspace: string[] | null;
}

/** The identity as it is stored, with its roles, and its membership of at most the workspace asked for. */
const withRoles = (workspaceId: string | null) =>
  ({
    organizationRole: { select: { permissions: true } },
    organization: { select: { plan: true } },
    everywhereRole: { select: { permissions: true } },
    members: {
      where: { workspaceId: workspaceId ?? NO_WORKSPACE },
      select: { role: { select: { permissions: true } } },
    },
  }) as const;

const NO_WORKSPACE = '00000000-0000-0000-0000-000000000000';

/**
 * What an identity of this organization may do there and in one of its workspaces. Organization administrators administer
 * every workspace; a membership goes before the role an identity has everywhere. Null when there is no such identity or
 * it was disabled.
 */
export async function accessOf(
  queries: Queries,
  scope: { organizationId: string; identityId: string; workspaceId: string | null },
): Promise<Access | null> {
  const { organizationId, identityId, workspaceId } = scope;
  const identity = await queries.identity.findUnique({
    where: { organizationId_id: { organizationId, id: identityId } },
    include: withRoles(workspaceId),
  });
  if (!identity || identity.disabledAt) return null;
  const isAdmin = identity.organizationRoleId === PLATFORM_ROLES.organizationAdmin;
  const organization = identity.organizationRole.permissions;
  const plan = identity.organization.plan as OrganizationPlan;
  const base = { organizationRoleId: identity.organizationRoleId, plan, organization };
  if (!workspaceId) return { ...base, workspace: null };

  const exists = await queries.workspace.findUnique({
    where: { organizationId_id: { organizationId, id: workspaceId } },
    select: { id: true },
  });
  if (!exists) return { ...base, workspace: null };
  if (isAdmin) {
    const admin = await queries.role.findUniqueOrThrow({ where: { id: PLATFORM_ROLES.workspaceAdmin } });
    return { ...base, workspace: admin.permissions };
  }
  const role = identity.members[0]?.role ?? identity.everywhereRole;
  return { ...base, workspace: role?.permissions ?? null };
}

/** Whether an identity of this organization, not disabled and not a service account without keys, reaches one of its workspaces. */
export async function reachesWorkspace(
  queries: Queries,
  scope: { organizationId: string; identityId: string; workspaceId: string },
): Promise<boolean> {
  return (await accessOf(queries, scope))?.workspace != null && (await isAlive(queries, scope));
}

/** Whether an identity acts anywhere in this organization: it exists, is not disabled, and is not a service account without keys. */
export async function isThere(
  queries: Queries,
  scope: { organizationId: string; identityId: string },
): Promise<boolean> {
  return (await accessOf(queries, { ...scope, workspaceId: null })) !== null && (await isAlive(queries, scope));
}

/** A service account is there as long as it has a key, and the one that the organization begins with for good. That it ended with the last one is written down a little later. */
async function isAlive(
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

/** The workspaces an identity reaches, oldest first; with those of `organizationId` only. */
export async function reachableWorkspaces(
  queries: Queries,
  scope: { organizationId: string; identityId: string },
): Promise<{ id: string; organizationId: string; displayName: string; createdAt: Date }[]> {
  const { organizationId, identityId } = scope;
  const identity = await queries.identity.findUnique({
    where: { organizationId_id: { organizationId, id: identityId } },
  });
  if (!identity || identity.disabledAt) return [];
  const everywhere =
    identity.everywhereRoleId !== null || identity.organizationRoleId === PLATFORM_ROLES.organizationAdmin;
  return queries.workspace.findMany({
    where: { organizationId, ...(everywhere ? {} : { members: { some: { identityId } } }) },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
}
