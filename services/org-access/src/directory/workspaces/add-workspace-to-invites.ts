import type { Tenant } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Prisma } from '../../generated/client.ts';

/** Finds the invites that wait for addresses, and keeps them from being claimed or ended until the transaction ends. */
export async function lockPendingInvites(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  emails: readonly string[],
): Promise<Map<string, string>> {
  const rows = await transaction.$queryRaw<{ id: string; email: string }[]>`
    SELECT id::text, email FROM invite
    WHERE organization_id = ${organizationId}::uuid AND email = ANY(${[...emails]}) AND ended_at IS NULL
      AND expires_at > now()
    ORDER BY id FOR UPDATE`;
  return new Map(rows.map(({ id, email }) => [email, id]));
}

/**
 * Adds a workspace to locked invites, which stay as they are otherwise; a role that they have there is replaced. The number
 * of statements does not depend on theirs.
 */
export async function addWorkspaceToInvites(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  { organizationId, workspaceId }: Tenant,
  extensions: readonly { inviteId: string; email: string; roleId: string }[],
): Promise<void> {
  if (extensions.length === 0) return;
  const inviteIds = extensions.map(({ inviteId }) => inviteId);
  const present = await transaction.inviteWorkspace.findMany({ where: { workspaceId, inviteId: { in: inviteIds } } });
  const former = new Map(present.map(({ inviteId, roleId }) => [inviteId, roleId]));
  const added = await transaction.$queryRaw<{ id: string; inviteId: string }[]>`
    INSERT INTO invite_workspace (id, invite_id, workspace_id, role_id)
    SELECT id, invite_id, ${workspaceId}::uuid, role_id
    FROM unnest(${extensions.map(() => uuidv7())}::uuid[], ${inviteIds}::uuid[],
      ${extensions.map(({ roleId }) => roleId)}::uuid[]) AS added (id, invite_id, role_id)
    ON CONFLICT (invite_id, workspace_id) DO UPDATE SET role_id = excluded.role_id
    RETURNING id::text, invite_id::text AS "inviteId"`;
  const ids = new Map(added.map(({ id, inviteId }) => [inviteId, id]));
  for (const { inviteId, email, roleId } of extensions) {
    const formerRoleId = former.get(inviteId);
    audit.record(organizationId, {
      action: 'invite.workspace_added',
      resourceType: 'invite_workspace',
      resourceId: ids.get(inviteId)!,
      workspaceId,
      before: formerRoleId === undefined ? null : { roleId: formerRoleId },
      after: { email, roleId },
    });
  }
}
