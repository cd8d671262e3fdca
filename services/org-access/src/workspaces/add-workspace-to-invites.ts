import type { Tenant } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { AuditRecorder } from '../audit/audit-trail.ts';
import type { Prisma } from '../generated/client.ts';

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

/** Adds a workspace to locked invites, which stay as they are otherwise; a role that they have there is replaced. */
export async function addWorkspaceToInvites(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  { organizationId, workspaceId }: Tenant,
  extensions: readonly { inviteId: string; email: string; roleId: string }[],
): Promise<void> {
  for (const { inviteId, email, roleId } of extensions) {
    const place = { inviteId_workspaceId: { inviteId, workspaceId } };
    const before = await transaction.inviteWorkspace.findUnique({ where: place });
    const { id } = await transaction.inviteWorkspace.upsert({
      where: place,
      create: { id: uuidv7(), inviteId, workspaceId, roleId },
      update: { roleId },
    });
    audit.record(organizationId, {
      action: 'invite.workspace_added',
      resourceType: 'invite_workspace',
      resourceId: id,
      workspaceId,
      before: before && { roleId: before.roleId },
      after: { email, roleId },
    });
  }
}
