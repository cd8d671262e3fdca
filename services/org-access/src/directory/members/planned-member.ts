import type { PendingIdentityCreate } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { InvalidFieldError, type Principal } from '@runyard/service-kit';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import {
  lockGrantableRoles,
  requireAuthorityOver,
  requireKnownRole,
  requireWorkspaceAuthority,
} from '../../access/role-authority.ts';
import type { Queries } from '../../database/database.ts';
import type { Prisma, Role } from '../../generated/client.ts';
import { normalizeEmail } from '../people/normalize-email.ts';

/** A person who is to become a member, with roles that exist and that the caller may give. */
export interface PlannedMember {
  email: string;
  fullName: string | null;
  organizationRole: Role;
  workspaces: { workspaceId: string; role: Role }[];
  isDirect: boolean;
}

interface RequestForm {
  /** True when the body is a list, for the places in errors. */
  isBatch: boolean;
  /** True when the accounts are made with the members. */
  mayHavePassword?: boolean;
}

/**
 * Checks what a request says about people who are to become members.
 *
 * @throws InvalidFieldError when an address comes twice, or a role or workspace is not of the organization; ForbiddenError
 *   when the caller may not give a role
 */
export async function planMembers(
  transaction: Prisma.TransactionClient,
  caller: Principal,
  people: readonly PendingIdentityCreate[],
  form: RequestForm,
): Promise<PlannedMember[]> {
  const planned = await planPeople(transaction, caller, people, form);
  for (const { organizationRole } of planned) requireAuthorityOver(caller, organizationRole.id);
  return planned;
}

/** Like `planMembers`, for people who may be members already: the caller may lack the right to give the organization role. */
export async function planPeople(
  transaction: Prisma.TransactionClient,
  caller: Principal,
  people: readonly PendingIdentityCreate[],
  { isBatch, mayHavePassword = false }: RequestForm,
): Promise<PlannedMember[]> {
  const { organizationId } = caller;
  const roles = await lockGrantableRoles(transaction, organizationId);
  const live = await findWorkspaces(transaction, organizationId, people);
  const seen = new Set<string>();
  const planned = people.map((person, index): PlannedMember => {
    const loc = (field: string) => (isBatch ? ['body', index, field] : ['body', field]);
    const email = normalizeEmail(person.email);
    if (person.password && !mayHavePassword)
      throw new InvalidFieldError(loc('password'), 'Members with a password are made at members/basic/batch.');
    if (seen.has(email)) throw new InvalidFieldError(loc('email'), `${email} is in the list twice.`);
    seen.add(email);
    const organizationRoleId = person.role_id?.toLowerCase() ?? PLATFORM_ROLES.organizationUser;
    const organizationRole = requireKnownRole(roles, organizationRoleId, 'organization', loc('role_id'));
    const workspaceIds = [...new Set((person.workspace_ids ?? []).map((id) => id.toLowerCase()))];
    if (person.workspace_role_id && workspaceIds.length === 0)
      throw new InvalidFieldError(loc('workspace_role_id'), 'It needs workspace_ids.');
    const role = requireKnownRole(roles, workspaceRoleOf(person), 'workspace', loc('workspace_role_id'));
    const unknown = workspaceIds.find((id) => !live.has(id));
    if (unknown !== undefined)
      throw new InvalidFieldError(loc('workspace_ids'), `There is no workspace ${unknown}.`, {
        code: 'role_or_workspace_unknown',
      });
    return {
      email,
      fullName: person.full_name ? toSqlText(person.full_name) : null,
      organizationRole,
      workspaces: workspaceIds.map((workspaceId) => ({ workspaceId, role })),
      isDirect: person.direct ?? false,
    };
  });
  await requireWorkspaceAuthority(
    transaction,
    caller,
    planned.flatMap(({ workspaces }) => workspaces),
  );
  return planned;
}

function workspaceRoleOf({ workspace_role_id, read_only }: PendingIdentityCreate): string {
  const byDefault = read_only ? PLATFORM_ROLES.workspaceViewer : PLATFORM_ROLES.workspaceEditor;
  return workspace_role_id?.toLowerCase() ?? byDefault;
}

async function findWorkspaces(
  queries: Queries,
  organizationId: string,
  people: readonly PendingIdentityCreate[],
): Promise<Set<string>> {
  const ids = new Set(people.flatMap(({ workspace_ids }) => (workspace_ids ?? []).map((id) => id.toLowerCase())));
  if (ids.size === 0) return new Set();
  const found = await queries.workspace.findMany({
    where: { organizationId, id: { in: [...ids] }, deletedAt: null },
    select: { id: true },
  });
  return new Set(found.map(({ id }) => id));
}
