import type {
  ApiKey,
  IssuedApiKey,
  ServiceKeyCreate,
  ServiceKeyRotation,
  ServiceKeyUpdate,
  WorkspaceKeyCreate,
} from '@runyard/contracts';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { ConflictError, InvalidFieldError, type Principal, tenantOf } from '@runyard/service-kit';
import { apiKeyStore, type StoredKey } from '../../access/credentials/api-key-store.ts';
import { issueKey, renderKey, revokeKeys } from '../../access/credentials/key-issue.ts';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';
import { changeAccountRoles } from './change-account-roles.ts';
import { DEFAULT_DESCRIPTION, parseExpiry, parseKeyFields, requireExpiryInTime } from './key-expiry.ts';
import { filterManageable, requireKeyManagement, requireOwnPermissions } from './key-management.ts';
import { defaultWorkspaceRole, requireGrantableRole, worksOnlyIn } from './key-reach.ts';
import {
  findManageableAccount,
  keyNotFound,
  lockManageableAccount,
  lockManageableKey,
  requireManageableKey,
} from './lock-manageable.ts';
import { createServiceAccount, endAccount, requireRole, requireWorkspace } from './service-accounts.ts';

/** The time that callers have to replace a rotated key, unless they ask for another. */
const ROTATION_MS = 86_400_000;

/**
 * Creates, lists, changes, rotates and revokes service keys. A key that is made without naming a service account gets
 * one of its own, which ends with its last key. Only organization administrators create keys of the whole organization.
 * Others need the permission to manage keys in every workspace of the key. Nobody can give a key more than they have
 * themselves in each of its workspaces, or more than their own role in the organization, nor change a key whose account has
 * a higher one. These permissions depend on the workspaces of a key, so they are checked here.
 */
export class ServiceKeyService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async create(caller: Principal, body: ServiceKeyCreate, keyed?: KeyedRequest): Promise<IssuedApiKey> {
    if (body.service_account_id)
      return this.#createForAccount(caller, body.service_account_id.toLowerCase(), body, keyed);
    const workspaceIds = body.workspaces ? [...new Set(body.workspaces.map((id) => id.toLowerCase()))] : null;
    await requireKeyManagement(this.#database.prisma, caller, workspaceIds);
    const organizationRoleId = requireGrantableRole(caller, body.org_role_id?.toLowerCase());
    const roleId = body.role_id?.toLowerCase() ?? defaultWorkspaceRole(body.read_only);
    await requireOwnPermissions(
      this.#database.prisma,
      caller,
      (workspaceIds ?? []).map((workspaceId) => ({ workspaceId, roleId })),
    );
    const defaultWorkspaceId = body.default_workspace_id?.toLowerCase() ?? null;
    if (defaultWorkspaceId && workspaceIds && !workspaceIds.includes(defaultWorkspaceId)) {
      throw new InvalidFieldError(['body', 'default_workspace_id'], 'It is not among the workspaces of the key.', {
        code: 'role_or_workspace_unknown',
      });
    }
    const fields = { ...parseKeyFields(body), kind: 'service_key', defaultWorkspaceId } as const;
    return this.#issue(caller, keyed, async (transaction) => {
      await requireExpiryInTime(transaction, caller.organizationId, fields);
      await requireRole(transaction, caller.organizationId, organizationRoleId, 'organization');
      await requireRole(transaction, caller.organizationId, roleId, 'workspace');
      if (defaultWorkspaceId)
        await requireWorkspace(transaction, caller.organizationId, defaultWorkspaceId, 'default_workspace_id');
      const identityId = await createServiceAccount(transaction, caller, {
        name: fields.description || DEFAULT_DESCRIPTION,
        organizationRoleId,
        showsOrganizationRole: body.org_role_id != null,
        isStandalone: false,
        everywhereRoleId: workspaceIds ? null : roleId,
        workspaces: (workspaceIds ?? []).map((workspaceId) => ({ workspaceId, roleId })),
      });
      return { ...fields, identityId };
    });
  }

  async list(caller: Principal): Promise<ApiKey[]> {
    const keys = await apiKeyStore.list(this.#database.prisma, caller.organizationId, { kind: 'service_key' });
    return (await this.#filter(caller, keys)).map(renderKey);
  }

  async delete(caller: Principal, keyId: string): Promise<ApiKey> {
    return this.#revoke(caller, keyId);
  }

  /** Changes the roles of the key's service account, and so of all its keys. */
  async update(caller: Principal, keyId: string, change: ServiceKeyUpdate): Promise<ApiKey> {
    const { organizationId } = caller;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const { key } = await lockManageableKey(transaction, caller, keyId);
        if (key.identity.isBootstrap) {
          throw new ConflictError('The roles of the first administrator key cannot be changed', {
            code: 'first_account_fixed',
          });
        }
        const roleId = change.role_id?.toLowerCase();
        const organizationRoleId = change.org_role_id
          ? requireGrantableRole(caller, change.org_role_id.toLowerCase())
          : undefined;
        const places = roleId ? key.identity.members.map(({ workspaceId }) => ({ workspaceId, roleId })) : [];
        await requireOwnPermissions(transaction, caller, places);
        await changeAccountRoles(transaction, organizationId, key.identityId, {
          workspaceRoleId: roleId,
          organizationRoleId,
        });
        const changed = await apiKeyStore.find(transaction, organizationId, { id: key.id, kind: 'service_key' });
        if (!changed) throw keyNotFound();
        record(audit, caller, 'api_key.changed', { key: changed, before: key });
        return renderKey(changed);
      }),
    );
  }

  /** Makes a new key for the service account of another, which then ends at a time. */
  async rotate(
    caller: Principal,
    keyId: string,
    body: ServiceKeyRotation,
    keyed?: KeyedRequest,
  ): Promise<IssuedApiKey> {
    // An answer is repeated only to a caller who still manages the key.
    await requireManageableKey(this.#database.prisma, caller, keyId);
    const { expiresAt } = parseKeyFields(body);
    const asked = parseExpiry(body.old_key_expires_at, 'old_key_expires_at');
    const fields = { kind: 'service_key', expiresAt } as const;
    return this.#issue(caller, keyed, async (transaction) => {
      const { organizationId } = caller;
      await requireExpiryInTime(transaction, organizationId, fields);
      const { key, isActive } = await lockManageableKey(transaction, caller, keyId);
      await requireOwnPermissions(transaction, caller, key.identity.members);
      if (asked && key.expiresAt && asked > key.expiresAt)
        throw new InvalidFieldError(['body', 'old_key_expires_at'], 'The key expires before.');
      if (!isActive || (key.expiresAt && key.expiresAt.getTime() <= Date.now()))
        throw new ConflictError('The key has expired: make a new one', { code: 'key_ended' });
      await apiKeyStore.expire(transaction, organizationId, key.id, asked ?? new Date(Date.now() + ROTATION_MS));
      const { identityId, description, readOnly, defaultWorkspaceId } = key;
      return { ...fields, identityId, description, readOnly, defaultWorkspaceId };
    });
  }

  async createInWorkspace(caller: Principal, body: WorkspaceKeyCreate, keyed?: KeyedRequest): Promise<IssuedApiKey> {
    const { workspaceId } = tenantOf(caller);
    const inWorkspace = {
      ...body,
      workspaces: [workspaceId],
      org_role_id: PLATFORM_ROLES.organizationViewer,
      default_workspace_id: workspaceId,
    };
    return this.create(caller, inWorkspace, keyed);
  }

  /** Returns the keys that work only in the caller's workspace. */
  async listInWorkspace(caller: Principal): Promise<ApiKey[]> {
    const { workspaceId } = tenantOf(caller);
    await requireKeyManagement(this.#database.prisma, caller, [workspaceId]);
    const keys = await apiKeyStore.list(this.#database.prisma, caller.organizationId, { kind: 'service_key' });
    const own = keys.filter(({ identity }) => worksOnlyIn(identity, new Set([workspaceId])));
    return (await this.#filter(caller, own)).map(renderKey);
  }

  async deleteInWorkspace(caller: Principal, keyId: string): Promise<ApiKey> {
    const { workspaceId } = tenantOf(caller);
    await requireKeyManagement(this.#database.prisma, caller, [workspaceId]);
    return this.#revoke(caller, keyId, new Set([workspaceId]));
  }

  async #createForAccount(
    caller: Principal,
    identityId: string,
    body: ServiceKeyCreate,
    keyed?: KeyedRequest,
  ): Promise<IssuedApiKey> {
    const foreign = (['workspaces', 'role_id', 'org_role_id'] as const).find((field) => body[field] != null);
    if (foreign) throw new InvalidFieldError(['body', foreign], 'A key of a service account has those of the account.');
    // An answer is repeated only to a caller who still manages the account.
    if (!(await findManageableAccount(this.#database.prisma, caller, identityId))) throw unknownAccount(identityId);
    const defaultWorkspaceId = body.default_workspace_id?.toLowerCase() ?? null;
    const fields = { ...parseKeyFields(body), kind: 'service_key', identityId, defaultWorkspaceId } as const;
    return this.#issue(caller, keyed, async (transaction) => {
      await requireExpiryInTime(transaction, caller.organizationId, fields);
      if (defaultWorkspaceId)
        await requireWorkspace(transaction, caller.organizationId, defaultWorkspaceId, 'default_workspace_id');
      const account = await lockManageableAccount(transaction, caller, identityId);
      if (!account) throw unknownAccount(identityId);
      await requireOwnPermissions(transaction, caller, account.members);
      return fields;
    });
  }

  #issue(
    caller: Principal,
    keyed: KeyedRequest | undefined,
    prepare: (transaction: Prisma.TransactionClient) => Promise<Omit<Parameters<typeof issueKey>[3], 'createdBy'>>,
  ): Promise<IssuedApiKey> {
    return this.#database.transact(
      withIdempotencyKey(
        keyed,
        audited(async (transaction, audit) => {
          const details = await prepare(transaction);
          return issueKey(transaction, audit, caller.organizationId, { ...details, createdBy: caller.identity });
        }),
      ),
    );
  }

  #filter(caller: Principal, keys: readonly StoredKey[]): Promise<StoredKey[]> {
    return filterManageable(
      this.#database.prisma,
      caller,
      keys,
      ({ identity }) => identity,
      ({ id }) => id,
    );
  }

  /**
   * Revokes a key, and ends its account with the last one; the account's personal tokens end then too.
   *
   * @param within the workspaces outside of which the key must not work
   */
  async #revoke(caller: Principal, keyId: string, within?: ReadonlySet<string>): Promise<ApiKey> {
    const { organizationId } = caller;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const { key } = await lockManageableKey(transaction, caller, keyId);
        if (within && !worksOnlyIn(key.identity, within)) throw keyNotFound();
        const { identityId } = key;
        await revokeKeys(transaction, audit, organizationId, [key.id]);
        const others = await apiKeyStore.idsOf(transaction, organizationId, identityId, 'service_key');
        if (!key.identity.isStandalone && others.length === 0) {
          const left = await apiKeyStore.idsOf(transaction, organizationId, identityId);
          await revokeKeys(transaction, audit, organizationId, left);
          await endAccount(transaction, organizationId, identityId);
        }
        return renderKey(key);
      }),
    );
  }
}

function record(
  audit: AuditRecorder,
  { organizationId }: Principal,
  action: string,
  { key, before }: { key: StoredKey; before: StoredKey },
): void {
  audit.record(organizationId, {
    action,
    resourceType: 'api_key',
    resourceId: key.id,
    before: renderKey(before),
    after: renderKey(key),
  });
}

const unknownAccount = (id: string) =>
  new InvalidFieldError(['body', 'service_account_id'], `There is no service account ${id}.`, {
    code: 'role_or_workspace_unknown',
  });
