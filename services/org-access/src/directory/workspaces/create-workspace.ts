import type { WorkspaceCreate } from '@runyard/contracts';
import { ConflictError, ForbiddenError, type Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { publishAccessChange } from '../../access/credentials/access-change.ts';
import { applyGroupGrants } from '../../access/group-grants.ts';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import { addGrants, applyGrants } from '../../access/role-grants.ts';
import { createDefaultTagKeys } from '../../access/tags/default-tag-keys.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Prisma, Workspace } from '../../generated/client.ts';
import { lockOrganization } from './lock-organization.ts';

/**
 * Makes a workspace, in which its maker is an administrator.
 *
 * @throws ConflictError when the id or the handle is taken; ForbiddenError in a personal organization
 */
export async function createWorkspace(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  caller: Principal,
  body: WorkspaceCreate,
): Promise<Workspace> {
  const { organizationId } = caller;
  const organization = await lockOrganization(transaction, organizationId);
  if (organization.isPersonal)
    throw new ForbiddenError('A personal organization has one workspace', { code: 'personal_organization' });
  const handle = body.tenant_handle ?? null;
  if (handle !== null) await requireFreeHandle(transaction, organizationId, handle);
  const id = body.id?.toLowerCase() ?? uuidv7();
  const [workspace] = await transaction.workspace.createManyAndReturn({
    data: { id, organizationId, displayName: body.display_name, handle },
    skipDuplicates: true,
  });
  if (!workspace) throw new ConflictError(`A workspace has the id ${id}`, { code: 'workspace_exists' });
  await createDefaultTagKeys(transaction, { organizationId, workspaceId: id });
  await admitMaker(transaction, caller, id);
  // Groups of SCIM may have waited for a workspace of this name.
  await applyGroupGrants(transaction, organizationId);
  audit.record(organizationId, {
    action: 'workspace.created',
    resourceType: 'workspace',
    resourceId: id,
    workspaceId: id,
    after: { displayName: workspace.displayName, handle },
  });
  return workspace;
}

async function requireFreeHandle(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  handle: string,
): Promise<void> {
  const taken = await transaction.workspace.findFirst({
    where: { organizationId, handle, deletedAt: null },
    select: { id: true },
  });
  if (!taken) return;
  throw new ConflictError(`A workspace of this organization has the handle ${JSON.stringify(handle)}`, {
    code: 'workspace_exists',
  });
}

/** Administrators of the organization, and accounts of the whole organization, are in the workspace already. */
async function admitMaker(
  transaction: Prisma.TransactionClient,
  { organizationId, identity: identityId }: Principal,
  workspaceId: string,
): Promise<void> {
  const maker = await transaction.identity.findUniqueOrThrow({
    where: { organizationId_id: { organizationId, id: identityId } },
  });
  const isIn = maker.everywhereRoleId !== null || maker.organizationRoleId === PLATFORM_ROLES.organizationAdmin;
  if (isIn) return;
  const roleId = PLATFORM_ROLES.workspaceAdmin;
  if (maker.kind === 'person') {
    await addGrants(transaction, organizationId, [
      { identityId, workspaceId, roleId, source: 'manual', sourceId: null },
    ]);
    await applyGrants(transaction, organizationId, [identityId]);
    return;
  }
  await transaction.member.create({ data: { organizationId, workspaceId, identityId, roleId } });
  await publishAccessChange(transaction, organizationId, [identityId], 'role_changed');
}
