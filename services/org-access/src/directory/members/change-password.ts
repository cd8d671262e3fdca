import type { Principal } from '@runyard/service-kit';
import { requireAuthorityOver } from '../../access/role-authority.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Prisma } from '../../generated/client.ts';
import { setPassword } from '../people/set-password.ts';
import type { StoredMember } from './member-store.ts';
import { acceptMembership, forgetVerification, requireOwnAccount } from './own-account.ts';

/**
 * Gives a member the password that an administrator chose. Ends all sessions of the person.
 *
 * @throws ConflictError when the account is not the organization's alone, or the caller's own
 */
export async function changePassword(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  caller: Principal,
  { id, personId, organizationRoleId }: Pick<StoredMember, 'id' | 'organizationRoleId'> & { personId: string },
  hash: string,
): Promise<void> {
  const { organizationId } = caller;
  requireAuthorityOver(caller, organizationRoleId);
  await requireOwnAccount(transaction, caller, personId);
  await setPassword(transaction, { personId, hash });
  await forgetVerification(transaction, personId);
  await acceptMembership(transaction, organizationId, personId);
  audit.record(organizationId, { action: 'member.password_changed', resourceType: 'identity', resourceId: id });
}
