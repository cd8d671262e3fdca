import { NotFoundError, type Principal } from '@runyard/service-kit';
import { apiKeyStore, type StoredKey } from '../../access/credentials/api-key-store.ts';
import type { Queries } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';
import { filterManageable } from './key-management.ts';
import { requireAuthorityOverAccount } from './key-reach.ts';
import { accountStore, type StoredServiceAccount } from './service-account-store.ts';
import { lockAccount } from './service-accounts.ts';

/** Finds a service key that the caller manages. @throws NotFoundError */
export async function requireManageableKey(queries: Queries, caller: Principal, keyId: string): Promise<StoredKey> {
  const key = await apiKeyStore.find(queries, caller.organizationId, { id: keyId.toLowerCase(), kind: 'service_key' });
  const [manageable] = key ? await filterManageable(queries, caller, [key], ({ identity }) => identity, idOf) : [];
  if (!manageable) throw keyNotFound();
  return manageable;
}

/**
 * Finds a service key that the caller may change, and locks its account, so that the account has the same roles until the
 * transaction ends.
 *
 * @throws NotFoundError; ForbiddenError when the account has a higher organization role than the caller
 */
export async function lockManageableKey(
  transaction: Prisma.TransactionClient,
  caller: Principal,
  keyId: string,
): Promise<{ key: StoredKey; isActive: boolean }> {
  const { identityId } = await requireManageableKey(transaction, caller, keyId);
  const isActive = await lockAccount(transaction, caller.organizationId, identityId);
  const key = await requireManageableKey(transaction, caller, keyId);
  requireAuthorityOverAccount(caller, key.identity.organizationRoleId);
  return { key, isActive };
}

/** Finds an active service account that the caller manages; null: none. */
export async function findManageableAccount(
  queries: Queries,
  caller: Principal,
  id: string,
): Promise<StoredServiceAccount | null> {
  const account = await accountStore.find(queries, caller.organizationId, id);
  const [manageable] = account ? await filterManageable(queries, caller, [account], (each) => each) : [];
  return manageable ?? null;
}

/**
 * Finds an active service account that the caller may change, and locks it until the transaction ends; null: none.
 *
 * @throws ForbiddenError when it has a higher organization role than the caller
 */
export async function lockManageableAccount(
  transaction: Prisma.TransactionClient,
  caller: Principal,
  id: string,
): Promise<StoredServiceAccount | null> {
  if (!(await findManageableAccount(transaction, caller, id))) return null;
  await lockAccount(transaction, caller.organizationId, id);
  const account = await findManageableAccount(transaction, caller, id);
  if (account) requireAuthorityOverAccount(caller, account.organizationRoleId);
  return account;
}

const idOf = ({ id }: StoredKey) => id;

export const keyNotFound = () => new NotFoundError('API key not found');
