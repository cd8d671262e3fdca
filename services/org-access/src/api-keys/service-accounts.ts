import { BadRequestError, type Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Queries } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';

export async function roleMustExist(
  queries: Queries,
  organizationId: string,
  roleId: string,
  accessScope: 'organization' | 'workspace',
): Promise<void> {
  const role = await queries.role.findFirst({
    where: { id: roleId, accessScope, OR: [{ organizationId: null }, { organizationId }] },
  });
  if (!role) throw new BadRequestError(`There is no ${accessScope} role ${roleId}.`);
}

export async function workspaceMustExist(queries: Queries, organizationId: string, workspaceId: string): Promise<void> {
  const workspace = await queries.workspace.findUnique({
    where: { organizationId_id: { organizationId, id: workspaceId } },
  });
  if (!workspace) throw noSuchWorkspace(workspaceId);
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

export const noSuchWorkspace = (id: string) => new BadRequestError(`There is no workspace ${id}.`);
