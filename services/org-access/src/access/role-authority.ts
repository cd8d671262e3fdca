import { ForbiddenError, InvalidFieldError, type Principal } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import type { Prisma, Role } from '../generated/client.ts';
import type { Access } from './access.ts';
import { type AttachedPolicy, readPoliciesOfRoles } from './effective-policies.ts';
import { withEffect } from './permissions-with-effect.ts';
import { PLATFORM_ROLES, rankOfOrganizationRole } from './platform-roles.ts';
import type { EffectivePolicy } from './policy-decision.ts';
import { accessOfCaller } from './read-only.ts';

/** The roles that an organization can give, by id. */
export type GrantableRoles = ReadonlyMap<string, Role>;

export async function readGrantableRoles(queries: Queries, organizationId: string): Promise<GrantableRoles> {
  const roles = await queries.role.findMany({ where: { OR: [{ organizationId: null }, { organizationId }] } });
  return new Map(roles.map((role) => [role.id, role]));
}

/**
 * Reads the roles that can be given, and keeps custom ones from being deleted until the transaction ends: a deletion waits,
 * and then finds them in use.
 */
export async function lockGrantableRoles(
  transaction: Prisma.TransactionClient,
  organizationId: string,
): Promise<GrantableRoles> {
  await transaction.$queryRaw`
    SELECT 1 FROM role WHERE organization_id = ${organizationId}::uuid ORDER BY id FOR KEY SHARE`;
  return readGrantableRoles(transaction, organizationId);
}

/** @param loc of the role's id in the request @throws InvalidFieldError when there is no such role */
export function requireKnownRole(
  roles: GrantableRoles,
  roleId: string,
  accessScope: 'organization' | 'workspace',
  loc: (string | number)[],
): Role {
  const role = roles.get(roleId);
  if (role?.accessScope !== accessScope)
    throw new InvalidFieldError(loc, `There is no ${accessScope} role ${roleId}.`, {
      code: 'role_or_workspace_unknown',
    });
  return role;
}

/**
 * Checks that the caller may give this role in the organization, and handle members who have it: administrators all of
 * them, operators those of users and viewers.
 *
 * @throws ForbiddenError
 */
export function requireAuthorityOver(caller: Principal, organizationRoleId: string): void {
  if (caller.organizationRole === 'admin') return;
  const isLower =
    rankOfOrganizationRole(organizationRoleId) > rankOfOrganizationRole(PLATFORM_ROLES.organizationOperator);
  if (caller.organizationRole === 'operator' && isLower) return;
  throw new ForbiddenError('Organization Operators only manage users and viewers', { code: 'role_above_own' });
}

/**
 * Checks that callers who do not administer the organization have every permission that they give in a workspace, and may
 * manage those to whom they give it. Policies count: an allow that the role has and the caller lacks gives more, and so
 * does a role without a deny that the caller has.
 *
 * @param managing the permission to manage members, or keys
 * @throws ForbiddenError
 */
export async function requireWorkspaceAuthority(
  queries: Queries,
  caller: Principal,
  grants: readonly { workspaceId: string; role: Role }[],
  managing: 'workspaces:manage-members' | 'workspaces:manage-keys' = 'workspaces:manage-members',
): Promise<void> {
  if (caller.organizationRole === 'admin') return;
  const access = new Map<string, Access | null>();
  const roleIds = [...new Set(grants.map(({ role }) => role.id))];
  const policies = roleIds.length === 0 ? [] : await readPoliciesOfRoles(queries, caller.organizationId, roleIds);
  for (const { workspaceId, role } of grants) {
    if (!access.has(workspaceId)) access.set(workspaceId, await accessOfCaller(queries, caller, workspaceId));
    const own = access.get(workspaceId);
    const attached = policies.filter((policy) => policy.roleIds.includes(role.id));
    if (own?.workspace?.includes(managing) && isWithin(own, role, attached)) continue;
    throw new ForbiddenError(`You may not give the role ${role.displayName} in workspace ${workspaceId}`, {
      code: 'role_above_own',
    });
  }
}

/** Returns whether a role, with the policies attached to it, gives nothing that the caller lacks. */
function isWithin({ workspace, policies: own }: Access, role: Role, attached: readonly AttachedPolicy[]): boolean {
  const held = workspace ?? [];
  const allowed = attached.filter(({ effect }) => effect === 'allow');
  const ofRole = withEffect(role.permissions);
  const given = new Set([...ofRole, ...allowed.flatMap(permissionsOf)]);
  const isAttachedTo = (policies: readonly EffectivePolicy[], { id }: EffectivePolicy) =>
    policies.some((policy) => policy.id === id);
  return (
    ofRole.every((each) => held.includes(each)) &&
    allowed.every(
      (policy) => isAttachedTo(own, policy) || permissionsOf(policy).every((each) => held.includes(each)),
    ) &&
    own.every(
      (policy) =>
        policy.effect === 'allow' ||
        isAttachedTo(attached, policy) ||
        !permissionsOf(policy).some((each) => given.has(each)),
    )
  );
}

function permissionsOf({ groups }: EffectivePolicy): string[] {
  return groups.map(({ permission }) => permission);
}
