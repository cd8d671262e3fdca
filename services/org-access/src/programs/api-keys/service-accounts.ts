import { InvalidFieldError, type Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { disableIdentity } from '../../access/credentials/disable-identity.ts';
import { lockGrantableRoles } from '../../access/role-authority.ts';
import type { Queries } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';

/** Body fields that name a role, by the scope that the role must have. */
const ROLE_FIELDS = { organization: 'org_role_id', workspace: 'role_id' } as const;

/** Requires a role, and keeps it from being deleted until the transaction ends. @throws InvalidFieldError */
export async function requireRole(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  roleId: string,
  accessScope: keyof typeof ROLE_FIELDS,
): Promise<void> {
  const role = (await lockGrantableRoles(transaction, organizationId)).get(roleId);
  if (role?.accessScope !== accessScope)
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

/** A service account to create. */
export interface NewServiceAccount {
  name: string;
  organizationRoleId: string;
  /** True when the role in the organization was asked for. */
  showsOrganizationRole: boolean;
  isStandalone: boolean;
  /** Its role in every workspace; null: it works in `workspaces` alone. */
  everywhereRoleId: string | null;
  /** In the order in which they are shown. */
  workspaces: readonly { workspaceId: string; roleId: string }[];
}

export async function createServiceAccount(
  transaction: Prisma.TransactionClient,
  caller: Principal,
  { workspaces, ...account }: NewServiceAccount,
): Promise<string> {
  const { organizationId } = caller;
  const id = uuidv7();
  await transaction.identity.create({
    data: { ...account, id, organizationId, kind: 'service_account', createdBy: caller.identity },
  });
  // The times keep the order.
  const now = Date.now();
  await transaction.member.createMany({
    data: workspaces.map((workspace, index) => ({
      ...workspace,
      organizationId,
      identityId: id,
      createdAt: new Date(now + index),
    })),
  });
  return id;
}

/** Waits for other changes of an account and its keys. @returns whether the account is active */
export async function lockAccount(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityId: string,
): Promise<boolean> {
  const rows = await transaction.$queryRaw<{ active: boolean }[]>`
    SELECT disabled_at IS NULL AS active FROM identity
    WHERE organization_id = ${organizationId}::uuid AND id = ${identityId}::uuid FOR UPDATE`;
  return rows[0]?.active ?? false;
}

/** Ends an account whose keys were revoked. Its row stays for the audit trail, and it is a member of nothing any more. */
export async function endAccount(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityId: string,
): Promise<void> {
  await disableIdentity(transaction, organizationId, identityId);
  await transaction.member.deleteMany({
    where: { organizationId, identityId, identity: { disabledAt: { not: null } } },
  });
}

export const unknownWorkspace = (id: string, field: string) =>
  new InvalidFieldError(['body', field], `There is no workspace ${id}.`, { code: 'role_or_workspace_unknown' });
