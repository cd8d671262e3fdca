import type { Tenant } from '@runyard/service-kit';
import { addGrants, applyGrants } from '../../access/role-grants.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Prisma } from '../../generated/client.ts';

export interface WorkspaceRoleChange {
  identityId: string;
  roleId: string;
  /** The role that the person had; null when they are added. */
  before: string | null;
}

/** Gives members of the organization roles in a workspace by hand. */
export async function giveWorkspaceRoles(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  { organizationId, workspaceId }: Tenant,
  changes: readonly WorkspaceRoleChange[],
): Promise<void> {
  await addGrants(
    transaction,
    organizationId,
    changes.map(({ identityId, roleId }) => ({ identityId, workspaceId, roleId, source: 'manual', sourceId: null })),
  );
  await applyGrants(
    transaction,
    organizationId,
    changes.map(({ identityId }) => identityId),
  );
  for (const { identityId, roleId, before } of changes)
    audit.record(organizationId, {
      action: `workspace_member.${before === null ? 'added' : 'role_changed'}`,
      resourceType: 'identity',
      resourceId: identityId,
      workspaceId,
      before: before === null ? null : { roleId: before },
      after: { roleId },
    });
}
