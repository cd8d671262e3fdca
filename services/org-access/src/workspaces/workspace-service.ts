import type { Workspace, WorkspaceCreate } from '@runyard/contracts';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import type { Principal } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { listReachableWorkspaces } from '../access/access.ts';
import { accessOfCaller } from '../access/read-only.ts';
import { audited } from '../audit/audit-trail.ts';
import type { Database, Queries } from '../database/database.ts';
import { createDefaultTagKeys } from '../tags/default-tag-keys.ts';

export class WorkspaceService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async list(caller: Principal): Promise<Workspace[]> {
    const scope = { organizationId: caller.organizationId, identityId: caller.identity };
    const rows = await listReachableWorkspaces(this.#database.prisma, scope);
    return Promise.all(rows.map((row) => render(this.#database.prisma, caller, row)));
  }

  async create(caller: Principal, body: WorkspaceCreate, keyed?: KeyedRequest): Promise<Workspace> {
    return this.#database.transact(
      withIdempotencyKey(
        keyed,
        audited(async (transaction, audit) => {
          const { organizationId } = caller;
          const row = await transaction.workspace.create({
            data: { id: uuidv7(), organizationId, displayName: body.display_name },
          });
          await createDefaultTagKeys(transaction, { organizationId, workspaceId: row.id });
          audit.record(organizationId, {
            action: 'workspace.created',
            resourceType: 'workspace',
            resourceId: row.id,
            workspaceId: row.id,
            after: { displayName: row.displayName },
          });
          return render(transaction, caller, row);
        }),
      ),
    );
  }
}

async function render(
  queries: Queries,
  caller: Principal,
  row: { id: string; organizationId: string; displayName: string; createdAt: Date },
): Promise<Workspace> {
  const access = await accessOfCaller(queries, caller, row.id);
  return {
    id: row.id,
    organization_id: row.organizationId,
    created_at: row.createdAt.toISOString(),
    display_name: row.displayName,
    is_personal: false,
    is_deleted: false,
    permissions: access?.workspace ?? [],
  };
}
