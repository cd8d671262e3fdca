import type { ApiKey, IssuedApiKey } from '@runyard/contracts';
import { v7 as uuidv7 } from 'uuid';
import { PLATFORM_ROLES } from '../access/platform-roles.ts';
import { organizationEvents } from '../events/organization-events.ts';
import type { Prisma } from '../generated/client.ts';
import { apiKeyStore, type NewKey, type StoredKey } from './api-key-store.ts';
import { hashKey, makeKey, shortenKey } from './key-format.ts';

/** Makes a key and stores its hash. Only this result contains the key itself. */
export async function issueKey(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  details: Omit<NewKey, 'id' | 'keySha256' | 'shortKey'>,
): Promise<IssuedApiKey> {
  const key = makeKey(details.kind);
  const stored = await apiKeyStore.insert(transaction, organizationId, {
    ...details,
    id: uuidv7(),
    keySha256: hashKey(key),
    shortKey: shortenKey(key),
  });
  await organizationEvents.keyIssued(transaction, { organizationId, keyId: stored.id });
  return { ...renderKey(stored), key };
}

/** Revokes keys. The event lets caches drop them before their time. */
export async function revokeKeys(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  keyIds: string[],
): Promise<void> {
  for (const keyId of keyIds) {
    if (await apiKeyStore.revoke(transaction, organizationId, keyId)) {
      await organizationEvents.keyRevoked(transaction, { organizationId, keyId });
    }
  }
}

export function renderKey(key: StoredKey): ApiKey {
  const { members, everywhereRoleId, organizationRoleId } = key.identity;
  const isEverywhere = everywhereRoleId !== null || organizationRoleId === PLATFORM_ROLES.organizationAdmin;
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
  };
}
