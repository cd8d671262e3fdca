import type { Workspace, WorkspaceCreate, WorkspaceUpdate } from '@runyard/contracts';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { ForbiddenError, NotFoundError, type Principal, requirePermission } from '@runyard/service-kit';
import { applyGroupGrants } from '../../access/group-grants.ts';
import { concernType } from '../../access/policy-decision.ts';
import { listReachableWorkspaces, type ReachableWorkspace } from '../../access/reachable-workspaces.ts';
import { accessOfCaller, isReadPermission } from '../../access/read-only.ts';
import { audited } from '../../audit/audit-trail.ts';
import type { Database, Queries } from '../../database/database.ts';
import type { Workspace as WorkspaceRow } from '../../generated/client.ts';
import { createWorkspace } from './create-workspace.ts';
import { deleteWorkspace } from './delete-workspace.ts';
import { lockOrganization } from './lock-organization.ts';

/** Lists, makes, renames and deletes the workspaces of the caller's organization. */
export class WorkspaceService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async list(caller: Principal, options: { includeDeleted?: boolean } = {}): Promise<Workspace[]> {
    return listFor(this.#database.prisma, caller, options);
  }

  async create(caller: Principal, body: WorkspaceCreate, keyed?: KeyedRequest): Promise<Workspace> {
    return this.#database.transact(
      withIdempotencyKey(
        keyed,
        audited(async (transaction, audit) => {
          const { id } = await createWorkspace(transaction, audit, caller, body);
          return findFor(transaction, caller, id);
        }),
      ),
    );
  }

  /** @throws NotFoundError for a workspace that the caller does not reach; ForbiddenError for one it does not manage */
  async update(caller: Principal, id: string, { display_name }: WorkspaceUpdate): Promise<Workspace> {
    if (caller.organizationRole !== 'admin') requirePermission(caller, 'workspaces:manage');
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const access = await accessOfCaller(transaction, caller, id);
        if (!access?.workspace) throw workspaceNotFound();
        requirePermission({ ...caller, workspaceId: id, permissions: access.workspace }, 'workspaces:manage');
        await lockOrganization(transaction, caller.organizationId);
        const before = await findLive(transaction, caller.organizationId, id);
        if (display_name != null && display_name !== before.displayName) {
          await transaction.workspace.update({ where: { id }, data: { displayName: display_name } });
          await applyGroupGrants(transaction, caller.organizationId);
          audit.record(caller.organizationId, {
            action: 'workspace.updated',
            resourceType: 'workspace',
            resourceId: id,
            workspaceId: id,
            before: { displayName: before.displayName },
            after: { displayName: display_name },
          });
        }
        return findFor(transaction, caller, id);
      }),
    );
  }

  /** @throws ForbiddenError for callers who are no administrators; NotFoundError; ConflictError when it is needed */
  async delete(caller: Principal, id: string): Promise<Workspace> {
    if (caller.organizationRole !== 'admin') {
      throw new ForbiddenError('Only organization administrators delete workspaces', {
        code: 'organization_admin_required',
      });
    }
    return this.#database.transact(
      audited(async (transaction, audit) => {
        await lockOrganization(transaction, caller.organizationId);
        const current = await findLive(transaction, caller.organizationId, id);
        const { isPersonal } = await organizationOf(transaction, caller.organizationId);
        const workspace = await deleteWorkspace(transaction, audit, current);
        await applyGroupGrants(transaction, caller.organizationId);
        return render({ workspace, role: null, permissions: [] }, caller, isPersonal);
      }),
    );
  }
}

async function findLive(queries: Queries, organizationId: string, id: string): Promise<WorkspaceRow> {
  const workspace = await queries.workspace.findFirst({ where: { organizationId, id, deletedAt: null } });
  if (!workspace) throw workspaceNotFound();
  return workspace;
}

async function findFor(queries: Queries, caller: Principal, id: string): Promise<Workspace> {
  const [found] = await listFor(queries, caller, { id });
  if (!found) throw workspaceNotFound();
  return found;
}

async function listFor(
  queries: Queries,
  caller: Principal,
  options: { includeDeleted?: boolean; id?: string },
): Promise<Workspace[]> {
  const scope = { organizationId: caller.organizationId, identityId: caller.identity };
  const rows = await listReachableWorkspaces(queries, scope, options);
  if (rows.length === 0) return [];
  const { isPersonal } = await organizationOf(queries, caller.organizationId);
  return rows.filter((row) => !isHidden(row)).map((row) => render(row, caller, isPersonal));
}

function organizationOf(queries: Queries, id: string): Promise<{ isPersonal: boolean }> {
  return queries.organization.findUniqueOrThrow({ where: { id }, select: { isPersonal: true } });
}

/** A workspace that a policy denies to read looks as if it did not exist. */
function isHidden({ workspace, policies, permissions }: ReachableWorkspace): boolean {
  const isDenied = workspace.deletedAt === null && !permissions.includes('workspaces:read');
  return isDenied && concernType(policies, 'workspace');
}

function render(
  { workspace, role, permissions: held }: Omit<ReachableWorkspace, 'policies'>,
  caller: Principal,
  isPersonal: boolean,
): Workspace {
  const permissions = caller.isReadOnly ? held.filter(isReadPermission) : held;
  return {
    id: workspace.id,
    organization_id: workspace.organizationId,
    created_at: workspace.createdAt.toISOString(),
    display_name: workspace.displayName,
    is_personal: isPersonal,
    is_deleted: workspace.deletedAt !== null,
    tenant_handle: workspace.handle,
    data_plane_url: null,
    read_only: permissions.every(isReadPermission),
    role_id: role?.id ?? null,
    role_name: role?.displayName ?? null,
    permissions,
  };
}

const workspaceNotFound = () => new NotFoundError('Workspace not found');
