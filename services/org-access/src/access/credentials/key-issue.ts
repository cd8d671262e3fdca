import type { ApiKey, IssuedApiKey } from '@runyard/contracts';
import { v7 as uuidv7 } from 'uuid';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import { organizationEvents } from '../../database/organization-events.ts';
import type { Prisma } from '../../generated/client.ts';
import { PLATFORM_ROLES } from '../platform-roles.ts';
import { apiKeyStore, type NewKey, type StoredKey } from './api-key-store.ts';
import { makeKey, shortenKey } from './key-format.ts';

/** Makes a key and stores its hash. Only this result contains the key itself. */
export async function issueKey(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
  details: Omit<NewKey, 'id' | 'keySha256' | 'shortKey'>,
): Promise<IssuedApiKey> {
  const key = makeKey(details.kind);
  const stored = await apiKeyStore.insert(transaction, organizationId, {
    ...details,
    id: uuidv7(),
    keySha256: hashSecret(key),
    shortKey: shortenKey(key),
  });
  await organizationEvents.keyIssued(transaction, { organizationId, keyId: stored.id });
  audit.record(organizationId, { action: 'api_key.created', ...resourceOf(stored.id), after: renderKey(stored) });
  return { ...renderKey(stored), key };
}

/** Revokes keys, and the tokens that were made with them. The events let caches drop them before their time. */
export async function revokeKeys(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
  keyIds: string[],
): Promise<void> {
  for (let ids = keyIds; ids.length > 0; ids = await apiKeyStore.idsMadeWith(transaction, organizationId, ids)) {
    for (const keyId of ids) {
      const revoked = await apiKeyStore.revoke(transaction, organizationId, keyId);
      if (!revoked) continue;
      await organizationEvents.keysRevoked(transaction, [{ organizationId, id: keyId }]);
      audit.record(organizationId, { action: 'api_key.revoked', ...resourceOf(keyId), before: renderKey(revoked) });
    }
  }
}

const resourceOf = (resourceId: string) => ({ resourceType: 'api_key', resourceId });

export function renderKey(key: StoredKey): ApiKey {
  const { members, everywhereRoleId, organizationRoleId, showsOrganizationRole } = key.identity;
  const isEverywhere = everywhereRoleId !== null || organizationRoleId === PLATFORM_ROLES.organizationAdmin;
  const isOfAccount = key.kind === 'service_key';
  const isOfWorkspaces = isOfAccount && everywhereRoleId === null;
  return {
    id: key.id,
    short_key: key.shortKey,
    description: key.description,
    read_only: key.readOnly,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    default_workspace_id: key.defaultWorkspaceId,
    default_workspace_name: key.defaultWorkspace?.displayName ?? null,
    workspace_names: isEverywhere ? null : members.map((member) => member.workspace.displayName),
    access_scope: isOfWorkspaces ? 'workspace' : 'organization',
    role_id: isOfAccount ? (everywhereRoleId ?? onlyRole(members)) : null,
    org_role_id: isOfAccount && (showsOrganizationRole || !isOfWorkspaces) ? organizationRoleId : null,
    created_by: key.createdBy,
    service_account_id: isOfAccount ? key.identityId : null,
  };
}

function onlyRole(members: { roleId: string }[]): string | null {
  const roles = new Set(members.map(({ roleId }) => roleId));
  return roles.size === 1 ? [...roles][0]! : null;
}
