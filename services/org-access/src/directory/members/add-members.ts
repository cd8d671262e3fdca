import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Queries } from '../../database/database.ts';
import type { Person, Prisma } from '../../generated/client.ts';
import { peopleStore } from '../people/people-store.ts';
import { alreadyMembers } from './member-errors.ts';
import type { PlannedMember } from './planned-member.ts';
import { provisionMembers } from './provision-member.ts';

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
 * with them, and an account that never proved its address does not.
 *
 * @returns the ids of the identities, in the given order
 */
export async function addMembers(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
  people: readonly PlannedMember[],
): Promise<string[]> {
  if (people.length === 0) return [];
  const persons = await peopleStore.findOrCreateAll(transaction, people);
  return addPlannedMembers(
    transaction,
    audit,
    organizationId,
    people.map((planned, index) => ({ planned, person: persons[index]!, isAccepted: false })),
  );
}

/** Makes people members with the planned roles. @returns the ids of the identities, in the given order */
export function addPlannedMembers(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
  people: readonly { planned: PlannedMember; person: Pick<Person, 'id' | 'email' | 'fullName'>; isAccepted: boolean }[],
): Promise<string[]> {
  const grant = { source: 'manual' as const, sourceId: null };
  return provisionMembers(
    transaction,
    audit,
    organizationId,
    people.map(({ person, isAccepted, planned: { fullName, organizationRole, workspaces } }) => ({
      personId: person.id,
      name: person.fullName ?? fullName ?? person.email,
      isAccepted,
      grants: [
        { ...grant, workspaceId: null, roleId: organizationRole.id },
        ...workspaces.map(({ workspaceId, role }) => ({ ...grant, workspaceId, roleId: role.id })),
      ],
    })),
  );
}
