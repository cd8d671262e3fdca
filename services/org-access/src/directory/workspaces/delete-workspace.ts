import { ConflictError } from '@runyard/service-kit';
import { publishAccessChange } from '../../access/credentials/access-change.ts';
import { disableIdentity } from '../../access/credentials/disable-identity.ts';
import { revokeKeys } from '../../access/credentials/key-issue.ts';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import { applyGrants } from '../../access/role-grants.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import { organizationEvents } from '../../database/organization-events.ts';
import type { Prisma, Workspace } from '../../generated/client.ts';

/**
 * Deletes a workspace: its row stays, for lists that ask for deleted ones; memberships, secrets and tags go, and service
 * accounts that work only there end with their keys. Other services learn of it by an event, and by asking. The caller
 * holds the lock of the organization.
 *
 * @throws ConflictError for the last workspace of the organization, and for the only default one of an identity provider
 */
export async function deleteWorkspace(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  { id: workspaceId, organizationId, displayName, handle }: Workspace,
): Promise<Workspace> {
  const scope = { organizationId, workspaceId };
  await requireOthers(transaction, scope);
  await removeFromDefaults(transaction, scope);
  const deleted = await transaction.workspace.update({ where: { id: workspaceId }, data: { deletedAt: new Date() } });
  const endedAccounts = await endServiceAccounts(transaction, audit, scope);
  const removedMembers = await removeMembers(transaction, scope);
  await transaction.apiKey.updateMany({
    where: { organizationId, defaultWorkspaceId: workspaceId },
    data: { defaultWorkspaceId: null },
  });
  await transaction.workspaceSecret.deleteMany({ where: scope });
  await transaction.tagKey.deleteMany({ where: scope });
  await organizationEvents.workspaceDeleted(transaction, scope);
  audit.record(organizationId, {
    action: 'workspace.deleted',
    resourceType: 'workspace',
    resourceId: workspaceId,
    workspaceId,
    before: { displayName, handle },
    details: { endedAccounts, removedMembers },
  });
  return deleted;
}

interface Scope {
  organizationId: string;
  workspaceId: string;
}

async function requireOthers(
  transaction: Prisma.TransactionClient,
  { organizationId, workspaceId }: Scope,
): Promise<void> {
  const other = await transaction.workspace.findFirst({
    where: { organizationId, deletedAt: null, id: { not: workspaceId } },
    select: { id: true },
  });
  if (!other)
    throw new ConflictError('The last workspace of an organization cannot be deleted', { code: 'workspace_needed' });
}

/** People who sign in for the first time must have a workspace to get into. */
async function removeFromDefaults(
  transaction: Prisma.TransactionClient,
  { organizationId, workspaceId }: Scope,
): Promise<void> {
  const providers = await transaction.ssoProvider.findMany({
    where: { organizationId, defaultWorkspaceIds: { has: workspaceId } },
    select: { id: true, displayName: true, defaultWorkspaceIds: true },
  });
  for (const { id, displayName, defaultWorkspaceIds } of providers) {
    const others = defaultWorkspaceIds.filter((each) => each !== workspaceId);
    if (others.length === 0) {
      throw new ConflictError(
        `It is the only default workspace of the identity provider ${JSON.stringify(displayName)}`,
        { code: 'workspace_needed' },
      );
    }
    await transaction.ssoProvider.update({ where: { id }, data: { defaultWorkspaceIds: others } });
  }
}

/** Ends the service accounts that work in this workspace alone, and takes it from the others. @returns the ended ones */
async function endServiceAccounts(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  scope: Scope,
): Promise<string[]> {
  const { organizationId, workspaceId } = scope;
  const accounts = await transaction.identity.findMany({
    where: { organizationId, kind: 'service_account', members: { some: { workspaceId } } },
    include: {
      members: { where: { workspaceId: { not: workspaceId } }, take: 1 },
      keys: { where: { revokedAt: null }, select: { id: true } },
    },
  });
  const worksElsewhere = ({ everywhereRoleId, organizationRoleId, members }: (typeof accounts)[number]) =>
    everywhereRoleId !== null || organizationRoleId === PLATFORM_ROLES.organizationAdmin || members.length > 0;
  const ended = accounts.filter((account) => !worksElsewhere(account) && !account.disabledAt);
  for (const { id, keys } of ended) {
    await revokeKeys(
      transaction,
      audit,
      organizationId,
      keys.map((key) => key.id),
    );
    await disableIdentity(transaction, organizationId, id);
  }
  await transaction.member.deleteMany({
    where: { organizationId, workspaceId, identityId: { in: accounts.map(({ id }) => id) } },
  });
  const changed = accounts.filter((account) => worksElsewhere(account) && !account.disabledAt).map(({ id }) => id);
  await publishAccessChange(transaction, organizationId, changed, 'role_changed');
  return ended.map(({ id }) => id);
}

/** @returns the number of people who had a role in the workspace */
async function removeMembers(
  transaction: Prisma.TransactionClient,
  { organizationId, workspaceId }: Scope,
): Promise<number> {
  const removed = await transaction.roleGrant.findMany({
    where: { organizationId, workspaceId },
    distinct: ['identityId'],
    select: { identityId: true },
  });
  await transaction.roleGrant.deleteMany({ where: { organizationId, workspaceId } });
  await applyGrants(
    transaction,
    organizationId,
    removed.map(({ identityId }) => identityId),
  );
  return removed.length;
}
