import { InvalidFieldError, type Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Queries } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';

/** Body fields that name a role, by the scope that the role must have. */
const ROLE_FIELDS = { organization: 'org_role_id', workspace: 'role_id' } as const;

/** @throws InvalidFieldError */
export async function requireRole(
  queries: Queries,
  organizationId: string,
  roleId: string,
  accessScope: keyof typeof ROLE_FIELDS,
): Promise<void> {
  const role = await queries.role.findFirst({
    where: { id: roleId, accessScope, OR: [{ organizationId: null }, { organizationId }] },
  });
  if (!role)
    throw new InvalidFieldError(['body', ROLE_FIELDS[accessScope]], `There is no ${accessScope} role ${roleId}.`, {
      code: 'role_or_workspace_unknown',
    });
}

/**
 * @param field of the body that names the workspace
 * @throws InvalidFieldError
 */
export async function requireWorkspace(
  queries: Queries,
  organizationId: string,
  workspaceId: string,
  field: string,
): Promise<void> {
  const workspace = await queries.workspace.findFirst({ where: { organizationId, id: workspaceId, deletedAt: null } });
  if (!workspace) throw unknownWorkspace(workspaceId, field);
}

export async function createServiceAccount(
  transaction: Prisma.TransactionClient,
  caller: Principal,
  account: { name: string; organizationRoleId: string; workspaceRoleId: string; workspaceIds: string[] | null },
): Promise<string> {
  const { organizationId } = caller;
  const { name, organizationRoleId, workspaceRoleId: roleId, workspaceIds } = account;
  const id = uuidv7();
  await transaction.identity.create({
    data: {
      id,
      organizationId,
      kind: 'service_account',
      name,
      organizationRoleId,
      everywhereRoleId: workspaceIds ? null : roleId,
      createdBy: caller.identity,
    },
  });
  await transaction.member.createMany({
    data: (workspaceIds ?? []).map((workspaceId) => ({ organizationId, workspaceId, identityId: id, roleId })),
  });
  return id;
}

export const unknownWorkspace = (id: string, field: string) =>
  new InvalidFieldError(['body', field], `There is no workspace ${id}.`, { code: 'role_or_workspace_unknown' });
