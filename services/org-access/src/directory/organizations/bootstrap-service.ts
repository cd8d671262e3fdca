import type { BootstrapRequest, BootstrapResponse, OrganizationPlan } from '@runyard/contracts';
import { takeAdvisoryLock } from '@runyard/database';
import { v7 as uuidv7 } from 'uuid';
import { apiKeyStore } from '../../access/credentials/api-key-store.ts';
import { issueKey, revokeKeys } from '../../access/credentials/key-issue.ts';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';
import { createFirstWorkspace } from '../workspaces/first-workspace.ts';

const KEY_DESCRIPTION = 'First administrator key';

/** The answer but for the link of the first administrator, who is an account's matter. */
type EnsuredOrganization = Omit<BootstrapResponse, 'administrator_setup_path'>;

/**
 * Creates what a new installation needs before its first call: the default organization, a workspace, and an
 * administrator key for that workspace. Idempotent, also for concurrent processes.
 */
export class BootstrapService {
  readonly #database: Database;

  readonly #plan: OrganizationPlan;
  readonly #onEnsured: () => Promise<void>;

  /**
   * @param options.plan of the new organization
   * @param options.onEnsured is called when the default organization exists
   */
  constructor(options: { database: Database; plan: OrganizationPlan; onEnsured: () => Promise<void> }) {
    this.#database = options.database;
    this.#plan = options.plan;
    this.#onEnsured = options.onEnsured;
  }

  async ensure(request: BootstrapRequest): Promise<EnsuredOrganization> {
    const answer = await this.#ensureOrganization(request);
    await this.#onEnsured();
    return answer;
  }

  async #ensureOrganization({ rotate_key: rotateKey = false }: BootstrapRequest): Promise<EnsuredOrganization> {
    return this.#database.transact(
      audited(async (transaction, audit) => {
        await takeAdvisoryLock(transaction, 'bootstrap');
        const organizationId = await ensureOrganization(transaction, audit, this.#plan);
        const workspaceId = await ensureWorkspace(transaction, audit, organizationId);
        const account = await transaction.identity.findFirst({ where: { organizationId, isBootstrap: true } });
        const identityId = account?.id ?? (await createAdministrator(transaction, audit, organizationId));
        if (account && !rotateKey) return { organization_id: organizationId, workspace_id: workspaceId, api_key: null };

        const keyIds = await apiKeyStore.idsOf(transaction, organizationId, identityId);
        await revokeKeys(transaction, audit, organizationId, keyIds);
        const { key, id } = await issueKey(transaction, audit, organizationId, {
          kind: 'service_key',
          identityId,
          description: KEY_DESCRIPTION,
          readOnly: false,
          expiresAt: null,
          defaultWorkspaceId: workspaceId,
          createdBy: null,
        });
        audit.record(organizationId, {
          action: account ? 'bootstrap_key.rotated' : 'bootstrap_key.created',
          resourceType: 'api_key',
          resourceId: id,
          details: { identityId },
        });
        return { organization_id: organizationId, workspace_id: workspaceId, api_key: key };
      }),
    );
  }
}

async function ensureOrganization(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  plan: OrganizationPlan,
): Promise<string> {
  // The default may have become another organization since, where nobody asked for a key.
  const account = await transaction.identity.findFirst({
    where: { isBootstrap: true },
    orderBy: { createdAt: 'asc' },
    select: { organizationId: true },
  });
  if (account) return account.organizationId;
  const existing = await transaction.organization.findFirst({ where: { isDefault: true } });
  if (existing) return existing.id;
  const { id } = await transaction.organization.create({
    data: { id: uuidv7(), displayName: 'Default', isDefault: true, plan },
  });
  audit.record(id, {
    action: 'organization.created',
    resourceType: 'organization',
    resourceId: id,
    after: { displayName: 'Default', plan },
  });
  return id;
}

async function ensureWorkspace(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
): Promise<string> {
  const oldest = await transaction.workspace.findFirst({
    where: { organizationId, deletedAt: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  if (oldest) return oldest.id;
  return createFirstWorkspace(transaction, audit, organizationId);
}

async function createAdministrator(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
): Promise<string> {
  const name = 'First administrator';
  const { id } = await transaction.identity.create({
    data: {
      id: uuidv7(),
      organizationId,
      kind: 'service_account',
      name,
      organizationRoleId: PLATFORM_ROLES.organizationAdmin,
      everywhereRoleId: PLATFORM_ROLES.workspaceAdmin,
      isBootstrap: true,
    },
  });
  audit.record(organizationId, {
    action: 'service_account.created',
    resourceType: 'identity',
    resourceId: id,
    after: { name, organizationRoleId: PLATFORM_ROLES.organizationAdmin },
  });
  return id;
}
