import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import { lockGrantableRoles } from '../../access/role-authority.ts';
import type { NewGrant } from '../../access/role-grants.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Queries } from '../../database/database.ts';
import type { Invite, InviteWorkspace, Prisma } from '../../generated/client.ts';
import { provisionMember } from '../members/provision-member.ts';

export type InviteWithWorkspaces = Invite & { workspaces: InviteWorkspace[] };

/** Finds the invite of an organization that waits for an address; null also for one that has expired. */
export function findPendingInvite(
  queries: Queries,
  organizationId: string,
  email: string,
): Promise<InviteWithWorkspaces | null> {
  return queries.invite.findFirst({
    where: { organizationId, email, endedAt: null, expiresAt: { gt: new Date() } },
    include: { workspaces: true },
  });
}

/**
 * Makes a person a member as the invite says, and ends the invite. Workspaces that are gone are left out; a workspace role
 * that is gone becomes Editor. Both are recorded.
 *
 * @returns the id of the identity; null when the invite was used, withdrawn or expired meanwhile
 */
export async function claimInvite(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  { id, organizationId, organizationRoleId }: Invite,
  person: { id: string; name: string; isAccepted: boolean },
): Promise<string | null> {
  const { count } = await transaction.invite.updateMany({
    where: { id, organizationId, endedAt: null, expiresAt: { gt: new Date() } },
    data: { endedAt: new Date(), outcome: 'claimed' },
  });
  if (count === 0) return null;
  // The invite may have gained a workspace since it was read; from here on it cannot.
  const workspaces = await transaction.inviteWorkspace.findMany({ where: { inviteId: id }, orderBy: { id: 'asc' } });
  const live = await transaction.workspace.findMany({
    where: { organizationId, id: { in: workspaces.map(({ workspaceId }) => workspaceId) }, deletedAt: null },
    select: { id: true },
  });
  const roles = await lockGrantableRoles(transaction, organizationId);
  const isLive = (workspaceId: string) => live.some((workspace) => workspace.id === workspaceId);
  const roleOf = (roleId: string) =>
    roles.get(roleId)?.accessScope === 'workspace' ? roleId : PLATFORM_ROLES.workspaceEditor;
  const grants: Omit<NewGrant, 'identityId'>[] = [
    { workspaceId: null, roleId: organizationRoleId, source: 'invite', sourceId: id },
    ...workspaces
      .filter(({ workspaceId }) => isLive(workspaceId))
      .map(({ workspaceId, roleId }) => ({
        workspaceId,
        roleId: roleOf(roleId),
        source: 'invite' as const,
        sourceId: id,
      })),
  ];
  const identityId = await provisionMember(transaction, audit, {
    organizationId,
    personId: person.id,
    name: person.name,
    isAccepted: person.isAccepted,
    grants,
  });
  audit.record(organizationId, {
    action: 'invite.claimed',
    resourceType: 'invite',
    resourceId: id,
    details: {
      identityId,
      missingWorkspaces: workspaces.map(({ workspaceId }) => workspaceId).filter((each) => !isLive(each)),
      missingRoles: workspaces.map(({ roleId }) => roleId).filter((each) => roleOf(each) !== each),
    },
  });
  return identityId;
}
