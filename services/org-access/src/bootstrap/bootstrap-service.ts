import type { BootstrapRequest, BootstrapResponse, OrganizationPlan } from '@runyard/contracts';
import { takeAdvisoryLock } from '@runyard/database';
import { v7 as uuidv7 } from 'uuid';
import { PLATFORM_ROLES } from '../access/platform-roles.ts';
import { apiKeyStore } from '../api-keys/api-key-store.ts';
import { issueKey, revokeKeys } from '../api-keys/key-issue.ts';
import type { Database } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';

const KEY_DESCRIPTION = 'First administrator key';

/**
 * Creates what a new installation needs before its first call: the default organization, a workspace, and an
 * administrator key for that workspace. Idempotent, also for concurrent processes.
 */
export class BootstrapService {
  readonly #database: Database;

  readonly #plan: OrganizationPlan;

  /** @param options.plan of the new organization */
  constructor(options: { database: Database; plan: OrganizationPlan }) {
    this.#database = options.database;
    this.#plan = options.plan;
  }

  async ensure({ rotate_key: rotateKey = false }: BootstrapRequest): Promise<BootstrapResponse> {
    return this.#database.transact(async (transaction) => {
      await takeAdvisoryLock(transaction, 'bootstrap');
      const organizationId = await ensureOrganization(transaction, this.#plan);
      const workspaceId = await ensureWorkspace(transaction, organizationId);
      const account = await transaction.identity.findFirst({ where: { organizationId, isBootstrap: true } });
      const identityId = account?.id ?? (await createAdministrator(transaction, organizationId));
      if (account && !rotateKey) return { organization_id: organizationId, workspace_id: workspaceId, api_key: null };

      await revokeKeys(transaction, organizationId, await apiKeyStore.idsOf(transaction, organizationId, identityId));
      const { key } = await issueKey(transaction, organizationId, {
        kind: 'service_key',
        identityId,
        description: KEY_DESCRIPTION,
        readOnly: false,
        expiresAt: null,
        defaultWorkspaceId: workspaceId,
      });
      return { organization_id: organizationId, workspace_id: workspaceId, api_key: key };
    });
  }
}

async function ensureOrganization(transaction: Prisma.TransactionClient, plan: OrganizationPlan): Promise<string> {
  const existing = await transaction.organization.findFirst({ where: { isDefault: true } });
  if (existing) return existing.id;
  const { id } = await transaction.organization.create({
    data: { id: uuidv7(), displayName: 'Default', isDefault: true, plan },
  });
  return id;
}

async function ensureWorkspace(transaction: Prisma.TransactionClient, organizationId: string): Promise<string> {
  const oldest = await transaction.workspace.findFirst({
    where: { organizationId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  if (oldest) return oldest.id;
  const { id } = await transaction.workspace.create({
    data: { id: uuidv7(), organizationId, displayName: 'Workspace 1' },
  });
  return id;
}

async function createAdministrator(transaction: Prisma.TransactionClient, organizationId: string): Promise<string> {
  const { id } = await transaction.identity.create({
    data: {
      id: uuidv7(),
      organizationId,
      kind: 'service_account',
      name: 'First administrator',
      organizationRoleId: PLATFORM_ROLES.organizationAdmin,
      everywhereRoleId: PLATFORM_ROLES.workspaceAdmin,
      isBootstrap: true,
    },
  });
  return id;
}
