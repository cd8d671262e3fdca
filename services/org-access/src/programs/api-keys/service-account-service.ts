import type { ServiceAccount, ServiceAccountCreate } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { NotFoundError, type Principal } from '@runyard/service-kit';
import { apiKeyStore } from '../../access/credentials/api-key-store.ts';
import { revokeKeys } from '../../access/credentials/key-issue.ts';
import { audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import { filterManageable, requireKeyManagement, requireOwnPermissions } from './key-management.ts';
import { defaultWorkspaceRole, requireGrantableRole } from './key-reach.ts';
import { lockManageableAccount } from './lock-manageable.ts';
import { accountStore, type StoredServiceAccount } from './service-account-store.ts';
import { createServiceAccount, endAccount, requireRole } from './service-accounts.ts';

/** Creates, lists and deletes service accounts. Whoever may manage keys of their workspaces may manage them. */
export class ServiceAccountService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async list(caller: Principal): Promise<ServiceAccount[]> {
    const { prisma } = this.#database;
    const accounts = await accountStore.list(prisma, caller.organizationId);
    return (await filterManageable(prisma, caller, accounts, (account) => account)).map(render);
  }

  async create(caller: Principal, body: ServiceAccountCreate, keyed?: KeyedRequest): Promise<ServiceAccount> {
    const { organizationId } = caller;
    const asked = new Map(
      body.workspaces?.map(({ workspace_id, role_id }) => [
        workspace_id.toLowerCase(),
        role_id?.toLowerCase() ?? defaultWorkspaceRole(false),
      ]),
    );
    await requireKeyManagement(this.#database.prisma, caller, body.workspaces ? [...asked.keys()] : null);
    const places = [...asked].map(([workspaceId, roleId]) => ({ workspaceId, roleId }));
    await requireOwnPermissions(this.#database.prisma, caller, places);
    const organizationRoleId = requireGrantableRole(caller, body.org_role_id?.toLowerCase());
    return this.#database.transact(
      withIdempotencyKey(
        keyed,
        audited(async (transaction, audit) => {
          await requireRole(transaction, organizationId, organizationRoleId, 'organization');
          for (const roleId of new Set(asked.values()))
            await requireRole(transaction, organizationId, roleId, 'workspace');
          const id = await createServiceAccount(transaction, caller, {
            name: toSqlText(body.name),
            organizationRoleId,
            showsOrganizationRole: true,
            isStandalone: true,
            everywhereRoleId: body.workspaces ? null : defaultWorkspaceRole(false),
            workspaces: places,
          });
          const account = render((await accountStore.find(transaction, organizationId, id))!);
          audit.record(organizationId, {
            action: 'service_account.created',
            resourceType: 'identity',
            resourceId: id,
            after: account,
          });
          return account;
        }),
      ),
    );
  }

  async delete(caller: Principal, id: string): Promise<ServiceAccount> {
    const { organizationId } = caller;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const account = await lockManageableAccount(transaction, caller, id.toLowerCase());
        if (!account) throw accountNotFound();
        const keyIds = await apiKeyStore.idsOf(transaction, organizationId, account.id);
        await revokeKeys(transaction, audit, organizationId, keyIds);
        await endAccount(transaction, organizationId, account.id);
        const deleted = render(account);
        audit.record(organizationId, {
          action: 'service_account.deleted',
          resourceType: 'identity',
          resourceId: account.id,
          before: deleted,
        });
        return deleted;
      }),
    );
  }
}

function render({ keys, members, ...account }: StoredServiceAccount): ServiceAccount {
  return {
    id: account.id,
    organization_id: account.organizationId,
    name: account.name,
    org_role_id: account.organizationRoleId,
    workspaces: account.everywhereRoleId
      ? null
      : members.map(({ workspaceId, roleId, workspace }) => ({
          workspace_id: workspaceId,
          workspace_name: workspace.displayName,
          role_id: roleId,
        })),
    created_at: account.createdAt.toISOString(),
    created_by: account.createdBy,
    last_used_at: keys[0]?.lastUsedAt?.toISOString() ?? null,
  };
}

const accountNotFound = () => new NotFoundError('Service account not found');
