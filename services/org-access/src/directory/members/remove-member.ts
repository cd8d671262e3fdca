import { keepAdministrator } from '../../access/administrators.ts';
import { publishAccessChange } from '../../access/credentials/access-change.ts';
import { disableIdentity } from '../../access/credentials/disable-identity.ts';
import { revokePersonalTokens } from '../../access/credentials/revoke-personal-tokens.ts';
import { applyGrants } from '../../access/role-grants.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Prisma } from '../../generated/client.ts';

/**
 * Removes a person from an organization: ends sessions and personal access tokens, and takes the roles. The row of the
 * identity stays for the audit trail and for what the person made. Who comes back gets a new identity. An identity
 * provider that keeps the person by SCIM no longer finds them, and may create them again.
 *
 * @throws ConflictError when the person is the last administrator
 */
export async function removeMember(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  {
    organizationId,
    id: identityId,
    ...identity
  }: { organizationId: string; id: string; personId: string | null; organizationRoleId: string },
): Promise<void> {
  await keepAdministrator(transaction, organizationId, async () => {
    await disableIdentity(transaction, organizationId, identityId);
    await transaction.identity.updateMany({ where: { organizationId, id: identityId }, data: { isRemoved: true } });
    await revokePersonalTokens(transaction, organizationId, [identityId]);
    await publishAccessChange(transaction, organizationId, [identityId], 'removed');
    await transaction.scimUser.deleteMany({ where: { organizationId, identityId } });
    await transaction.roleGrant.deleteMany({ where: { organizationId, identityId } });
    await applyGrants(transaction, organizationId, [identityId]);
  });
  audit.record(organizationId, {
    action: 'member.removed',
    resourceType: 'identity',
    resourceId: identityId,
    before: { personId: identity.personId, organizationRoleId: identity.organizationRoleId },
  });
}
