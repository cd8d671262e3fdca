import {
  WORKSPACE_SECRETS_MAX,
  type WorkspaceSecretChange,
  type WorkspaceSecretName,
  type WorkspaceSecretsRequest,
  type WorkspaceSecretValues,
} from '@runyard/contracts';
import type { Cipher } from '@runyard/encryption';
import { InvalidFieldError, NotFoundError, type Principal, type Tenant, tenantOf } from '@runyard/service-kit';
import { audited } from '../../audit/audit-trail.ts';
import type { Database, Queries } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';

const VALUE_BYTES_MAX = 65_536;

/** Keeps the secrets of workspaces, encrypted. Only services of the platform read their values. */
export class SecretService {
  readonly #database: Database;
  readonly #cipher: Cipher;

  constructor(options: { database: Database; cipher: Cipher }) {
    this.#database = options.database;
    this.#cipher = options.cipher;
  }

  list(caller: Principal): Promise<WorkspaceSecretName[]> {
    return listNames(this.#database.prisma, tenantOf(caller));
  }

  /** Applies all changes or none, and returns the names afterwards. */
  async set(caller: Principal, changes: readonly WorkspaceSecretChange[]): Promise<WorkspaceSecretName[]> {
    const tenant = tenantOf(caller);
    checkChanges(changes);
    return this.#database.transact(
      audited(async (transaction, audit) => {
        await lockWorkspace(transaction, tenant);
        const before = new Set((await listNames(transaction, tenant)).map(({ key }) => key));
        const kept = changes.filter(({ value }) => value !== null).map(({ key }) => key);
        const gone = changes.filter(({ key, value }) => value === null && before.has(key)).map(({ key }) => key);
        for (const { key, value } of changes) if (value !== null) await this.#upsert(transaction, tenant, key, value);
        await transaction.workspaceSecret.deleteMany({ where: { ...tenant, key: { in: gone } } });
        const names = await listNames(transaction, tenant);
        if (names.length > WORKSPACE_SECRETS_MAX)
          throw new InvalidFieldError(['body'], `A workspace has at most ${WORKSPACE_SECRETS_MAX} secrets.`);
        for (const key of [...kept, ...gone]) {
          audit.record(tenant.organizationId, {
            action: gone.includes(key) ? 'secret.deleted' : before.has(key) ? 'secret.changed' : 'secret.created',
            resourceType: 'workspace_secret',
            resourceId: null,
            workspaceId: tenant.workspaceId,
            details: { key },
          });
        }
        return names;
      }),
    );
  }

  /** Returns the values of those keys that the workspace has. A deleted workspace has none. */
  async read({ organization_id, workspace_id, keys }: WorkspaceSecretsRequest): Promise<WorkspaceSecretValues> {
    const tenant = { organizationId: organization_id.toLowerCase(), workspaceId: workspace_id.toLowerCase() };
    const rows = await this.#database.prisma.workspaceSecret.findMany({
      where: { ...tenant, key: { in: keys }, workspace: { deletedAt: null } },
    });
    return {
      secrets: rows.map(({ key, encryptedValue }) => ({
        key,
        value: this.#cipher.decrypt(encryptedValue, placeOf(tenant, key)),
      })),
    };
  }

  async #upsert(transaction: Prisma.TransactionClient, tenant: Tenant, key: string, value: string): Promise<void> {
    const encryptedValue = this.#cipher.encrypt(value, placeOf(tenant, key));
    await transaction.workspaceSecret.upsert({
      where: { organizationId_workspaceId_key: { ...tenant, key } },
      create: { ...tenant, key, encryptedValue },
      update: { encryptedValue },
    });
  }
}

const placeOf = ({ workspaceId }: Tenant, key: string) => `workspace/${workspaceId}/secrets/${key}`;

/** Changes of one workspace's secrets wait for each other, and for its deletion. @throws NotFoundError when it is gone */
async function lockWorkspace(
  transaction: Prisma.TransactionClient,
  { organizationId, workspaceId }: Tenant,
): Promise<void> {
  const [live] = await transaction.$queryRaw<unknown[]>`
    SELECT 1 FROM workspace
    WHERE organization_id = ${organizationId}::uuid AND id = ${workspaceId}::uuid AND deleted_at IS NULL
    FOR NO KEY UPDATE`;
  if (!live) throw new NotFoundError('Workspace not found');
}

/** @throws InvalidFieldError that names a key, never a value */
function checkChanges(changes: readonly WorkspaceSecretChange[]): void {
  const seen = new Set<string>();
  for (const [index, { key, value }] of changes.entries()) {
    if (seen.has(key)) throw new InvalidFieldError(['body', index, 'key'], `The key ${key} is given twice.`);
    seen.add(key);
    if (value === null) continue;
    if (Buffer.byteLength(value) > VALUE_BYTES_MAX)
      throw new InvalidFieldError(['body', index, 'value'], `It has more than ${VALUE_BYTES_MAX} bytes.`);
    if (value.includes('\0')) throw new InvalidFieldError(['body', index, 'value'], 'It contains a NUL character.');
  }
}

function listNames(queries: Queries, tenant: Tenant): Promise<WorkspaceSecretName[]> {
  return queries.workspaceSecret.findMany({ where: tenant, select: { key: true }, orderBy: { key: 'asc' } });
}
