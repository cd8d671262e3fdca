import { keepAdministrator } from '../../access/administrators.ts';
import { publishAccessChange } from '../../access/credentials/access-change.ts';
import { revokePersonalTokens } from '../../access/credentials/revoke-personal-tokens.ts';
import type { Prisma } from '../../generated/client.ts';

/**
 * Disables a person at the word of the identity provider: no login, and neither sessions nor personal tokens from the
 * commit on. What the person made stays.
 *
 * @throws ConflictError when the person is the last administrator
 */
export async function deactivate(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityId: string,
): Promise<void> {
  await keepAdministrator(transaction, organizationId, async () => {
    await transaction.identity.updateMany({
      where: { organizationId, id: identityId, disabledAt: null },
      data: { disabledAt: new Date(), disabledBy: 'scim' },
    });
    await revokePersonalTokens(transaction, organizationId, [identityId]);
    await publishAccessChange(transaction, organizationId, [identityId], 'disabled');
  });
}

/** Enables a person again whom the identity provider had disabled; one whom an administrator disabled stays so. */
export async function reactivate(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityId: string,
): Promise<void> {
  const { count } = await transaction.identity.updateMany({
    where: { organizationId, id: identityId, disabledBy: 'scim' },
    data: { disabledAt: null, disabledBy: null },
  });
  if (count > 0) await publishAccessChange(transaction, organizationId, [identityId], 'role_changed');
}
