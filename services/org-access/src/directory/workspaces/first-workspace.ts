import { v7 as uuidv7 } from 'uuid';
import { createDefaultTagKeys } from '../../access/tags/default-tag-keys.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Prisma } from '../../generated/client.ts';

/** Makes the workspace with which an organization begins. @returns its id */
export async function createFirstWorkspace(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
): Promise<string> {
  const displayName = 'Workspace 1';
  const { id } = await transaction.workspace.create({ data: { id: uuidv7(), organizationId, displayName } });
  audit.record(organizationId, {
    action: 'workspace.created',
    resourceType: 'workspace',
    resourceId: id,
    workspaceId: id,
    after: { displayName },
  });
  await createDefaultTagKeys(transaction, { organizationId, workspaceId: id });
  return id;
}
