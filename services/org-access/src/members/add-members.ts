import type { AuditRecorder } from '../audit/audit-trail.ts';
import type { Queries } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { peopleStore } from '../people/people-store.ts';
import { requireProvenAccount } from '../people/unproven-account.ts';
import { alreadyMembers } from './member-errors.ts';
import type { PlannedMember } from './planned-member.ts';
import { provisionMember } from './provision-member.ts';

/** @throws ConflictError when one of the addresses is that of a member, who may be disabled */
export async function requireNoMembers(
  queries: Queries,
  organizationId: string,
  emails: readonly string[],
): Promise<void> {
  const known = await queries.identity.findMany({
    where: { organizationId, isRemoved: false, person: { email: { in: [...emails] } } },
    select: { person: { select: { email: true } } },
  });
  if (known.length > 0) throw alreadyMembers(known.map(({ person }) => person!.email).sort());
}

/**
 * Makes people members at once, without an invite. Their addresses are not verified by this: they get in when they sign in
 * with them.
 *
 * @throws ConflictError when an account with one of the addresses has never verified it
 * @returns the ids of the identities, in the given order
 */
export async function addMembers(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
  people: readonly PlannedMember[],
): Promise<string[]> {
  const identityIds: string[] = [];
  for (const { email, fullName, organizationRole, workspaces } of people) {
    const person = await peopleStore.findOrCreate(transaction, { email, fullName });
    await requireProvenAccount(transaction, person);
    const grant = { source: 'manual' as const, sourceId: null };
    const identityId = await provisionMember(transaction, audit, {
      organizationId,
      personId: person.id,
      name: person.fullName ?? fullName ?? email,
      grants: [
        { ...grant, workspaceId: null, roleId: organizationRole.id },
        ...workspaces.map(({ workspaceId, role }) => ({ ...grant, workspaceId, roleId: role.id })),
      ],
    });
    identityIds.push(identityId);
  }
  return identityIds;
}
