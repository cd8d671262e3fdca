import type {
  ApiKey,
  IssuedApiKey,
  PersonalTokenCreate,
  ServiceKeyCreate,
  WorkspaceKeyCreate,
} from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { ForbiddenError, InvalidFieldError, NotFoundError, type Principal, tenantOf } from '@runyard/service-kit';
import { PLATFORM_ROLES } from '../access/platform-roles.ts';
import { accessOfCaller } from '../access/read-only.ts';
import type { Database, Queries } from '../database/database.ts';
import { disableIdentity } from '../identities/disable-identity.ts';
import { apiKeyStore, type StoredKey } from './api-key-store.ts';
import { issueKey, renderKey, revokeKeys } from './key-issue.ts';
import { defaultWorkspaceRole, requireGrantableRole, worksOnlyIn } from './key-reach.ts';
import { createServiceAccount, requireRole, requireWorkspace, unknownWorkspace } from './service-accounts.ts';

const DEFAULT_DESCRIPTION = 'Default API key';

/**
 * Creates, lists and revokes keys. A service key has a service account of its own, which ends with the key. Only
 * organization administrators create keys of the whole organization. Others need the permission to manage keys in every
 * workspace of the key. Nobody can give a key more than a workspace administrator has, or more than their own role in
 * the organization. These permissions depend on the workspaces of a key, so they are checked here.
 */
export class ApiKeyService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async createServiceKey(caller: Principal, body: ServiceKeyCreate, keyed?: KeyedRequest): Promise<IssuedApiKey> {
    const workspaceIds = body.workspaces ? [...new Set(body.workspaces.map((id) => id.toLowerCase()))] : null;
    await this.#mayManageKeysOf(caller, workspaceIds);
    const organizationRoleId = requireGrantableRole(caller, body.org_role_id?.toLowerCase());
    const workspaceRoleId = body.role_id?.toLowerCase() ?? defaultWorkspaceRole(body.read_only);
    const defaultWorkspaceId = body.default_workspace_id?.toLowerCase() ?? null;
    if (defaultWorkspaceId && workspaceIds && !workspaceIds.includes(defaultWorkspaceId)) {
      throw new InvalidFieldError(['body', 'default_workspace_id'], 'It is not among the workspaces of the key.', {
        code: 'role_or_workspace_unknown',
      });
    }
    return this.#database.transact(
      withIdempotencyKey(keyed, async (transaction) => {
        await requireRole(transaction, caller.organizationId, organizationRoleId, 'organization');
        await requireRole(transaction, caller.organizationId, workspaceRoleId, 'workspace');
        if (defaultWorkspaceId)
          await requireWorkspace(transaction, caller.organizationId, defaultWorkspaceId, 'default_workspace_id');
        const identityId = await createServiceAccount(transaction, caller, {
          name: toSqlText(body.description ?? DEFAULT_DESCRIPTION),
          organizationRoleId,
          workspaceRoleId,
          workspaceIds,
        });
        return issueKey(transaction, caller.organizationId, {
          ...parseKeyFields(body),
          kind: 'service_key',
          identityId,
          defaultWorkspaceId,
        });
      }),
    );
  }

  async listServiceKeys(caller: Principal): Promise<ApiKey[]> {
    const keys = await apiKeyStore.list(this.#database.prisma, caller.organizationId, { kind: 'service_key' });
    if (caller.organizationRole === 'admin') return keys.map(renderKey);
    const manageable = await this.#manageableWorkspaces(caller, keys);
    return keys.filter((key) => worksOnlyIn(key, manageable)).map(renderKey);
  }

  async deleteServiceKey(caller: Principal, keyId: string): Promise<ApiKey> {
    const key = await apiKeyStore.find(this.#database.prisma, caller.organizationId, {
      id: keyId,
      kind: 'service_key',
    });
    const visible =
      key && (caller.organizationRole === 'admin' || worksOnlyIn(key, await this.#manageableWorkspaces(caller, [key])));
    if (!visible) throw keyNotFound();
    return this.#revokeWithAccount(caller.organizationId, key);
  }

  async createWorkspaceKey(caller: Principal, body: WorkspaceKeyCreate, keyed?: KeyedRequest): Promise<IssuedApiKey> {
    const { workspaceId } = tenantOf(caller);
    const inWorkspace = {
      ...body,
      workspaces: [workspaceId],
      org_role_id: PLATFORM_ROLES.organizationViewer,
      default_workspace_id: workspaceId,
    };
    return this.createServiceKey(caller, inWorkspace, keyed);
  }

  /** Returns the keys that work only in the caller's workspace. */
  async listWorkspaceKeys(caller: Principal): Promise<ApiKey[]> {
    const { workspaceId } = tenantOf(caller);
    await this.#mayManageKeysOf(caller, [workspaceId]);
    const keys = await apiKeyStore.list(this.#database.prisma, caller.organizationId, { kind: 'service_key' });
    return keys.filter((key) => worksOnlyIn(key, new Set([workspaceId]))).map(renderKey);
  }

  async deleteWorkspaceKey(caller: Principal, keyId: string): Promise<ApiKey> {
    const { workspaceId } = tenantOf(caller);
    await this.#mayManageKeysOf(caller, [workspaceId]);
    const key = await apiKeyStore.find(this.#database.prisma, caller.organizationId, {
      id: keyId,
      kind: 'service_key',
    });
    if (!key || !worksOnlyIn(key, new Set([workspaceId]))) throw keyNotFound();
    return this.#revokeWithAccount(caller.organizationId, key);
  }

  async createPersonalToken(caller: Principal, body: PersonalTokenCreate, keyed?: KeyedRequest): Promise<IssuedApiKey> {
    const defaultWorkspaceId = body.default_workspace_id?.toLowerCase() ?? caller.workspaceId ?? null;
    return this.#database.transact(
      withIdempotencyKey(keyed, async (transaction) => {
        const { organizationId, identity: identityId } = caller;
        const organization = await transaction.organization.findUniqueOrThrow({ where: { id: organizationId } });
        if (organization.patCreationDisabled) {
          throw new ForbiddenError('Personal access tokens are not enabled for this organization', {
            code: 'personal_tokens_disabled',
          });
        }
        if (defaultWorkspaceId) {
          const access = await accessOfCaller(transaction, caller, defaultWorkspaceId);
          if (!access?.workspace) throw unknownWorkspace(defaultWorkspaceId, 'default_workspace_id');
        }
        const key = { ...parseKeyFields(body), kind: 'personal_token', identityId, defaultWorkspaceId } as const;
        return issueKey(transaction, organizationId, {
          ...key,
          expiresAt: earlierOf(key.expiresAt, await expiryOf(transaction, caller)),
        });
      }),
    );
  }

  async listPersonalTokens(caller: Principal): Promise<ApiKey[]> {
    const filter = { kind: 'personal_token', identityId: caller.identity } as const;
    return (await apiKeyStore.list(this.#database.prisma, caller.organizationId, filter)).map(renderKey);
  }

  async deletePersonalToken(caller: Principal, keyId: string): Promise<ApiKey> {
    const key = await apiKeyStore.find(this.#database.prisma, caller.organizationId, {
      id: keyId,
      kind: 'personal_token',
    });
    if (!key || key.identityId !== caller.identity) throw keyNotFound();
    await this.#database.transact((transaction) => revokeKeys(transaction, caller.organizationId, [key.id]));
    return renderKey(key);
  }

  async #revokeWithAccount(organizationId: string, key: StoredKey): Promise<ApiKey> {
    const { identityId } = key;
    await this.#database.transact(async (transaction) => {
      // The account's personal tokens are revoked with it.
      await revokeKeys(transaction, organizationId, await apiKeyStore.idsOf(transaction, organizationId, identityId));
      await disableIdentity(transaction, organizationId, identityId);
    });
    return renderKey(key);
  }

  async #mayManageKeysOf(caller: Principal, workspaceIds: string[] | null): Promise<void> {
    if (caller.organizationRole === 'admin') {
      for (const id of workspaceIds ?? []) {
        await requireWorkspace(this.#database.prisma, caller.organizationId, id, 'workspaces');
      }
      return;
    }
    if (!workspaceIds)
      throw new ForbiddenError('Only organization administrators manage keys of the whole organization', {
        code: 'organization_admin_required',
      });
    for (const workspaceId of workspaceIds) {
      if (!(await this.#managesKeysIn(caller, workspaceId))) {
        throw new ForbiddenError(`You may not manage keys in workspace ${workspaceId}`, {
          code: 'key_management_forbidden',
        });
      }
    }
  }

  async #manageableWorkspaces(caller: Principal, keys: StoredKey[]): Promise<Set<string>> {
    const candidates = new Set(keys.flatMap((key) => key.identity.members.map((member) => member.workspaceId)));
    const manageable = new Set<string>();
    for (const workspaceId of candidates) {
      if (await this.#managesKeysIn(caller, workspaceId)) manageable.add(workspaceId);
    }
    return manageable;
  }

  async #managesKeysIn(caller: Principal, workspaceId: string): Promise<boolean> {
    const access = await accessOfCaller(this.#database.prisma, caller, workspaceId);
    return access?.workspace?.includes('workspaces:manage-keys') ?? false;
  }
}

function parseKeyFields(body: { description?: string | null; read_only?: boolean; expires_at?: string | null }) {
  const expiresAt = body.expires_at ? new Date(body.expires_at) : null;
  if (expiresAt && expiresAt.getTime() <= Date.now())
    throw new InvalidFieldError(['body', 'expires_at'], 'It is in the past.');
  return {
    description: toSqlText(body.description ?? DEFAULT_DESCRIPTION),
    readOnly: body.read_only ?? false,
    expiresAt,
  };
}

function earlierOf(one: Date | null, other: Date | null): Date | null {
  if (!one || !other) return one ?? other;
  return one < other ? one : other;
}

/** Returns the expiry of the caller's key, because keys that the caller creates must not outlive it. */
async function expiryOf(queries: Queries, caller: Principal): Promise<Date | null> {
  if (!caller.keyId) return null;
  const key = await queries.apiKey.findFirst({ where: { organizationId: caller.organizationId, id: caller.keyId } });
  return key?.expiresAt ?? null;
}

const keyNotFound = () => new NotFoundError('API key not found');
