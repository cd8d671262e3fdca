import type { AuditRecorder } from '../audit/audit-trail.ts';
import type { Queries } from '../database/database.ts';
import type { Person, Prisma } from '../generated/client.ts';
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
  for (const planned of people) {
    const person = await peopleStore.findOrCreate(transaction, planned);
    await requireProvenAccount(transaction, person);
    identityIds.push(await addPlannedMember(transaction, audit, organizationId, person, planned));
  }
  return identityIds;
}

/** Makes a person a member with the planned roles. @returns the id of the identity */
export function addPlannedMember(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
  person: Pick<Person, 'id' | 'email' | 'fullName'>,
  { fullName, organizationRole, workspaces }: PlannedMember,
): Promise<string> {
  const grant = { source: 'manual' as const, sourceId: null };
  return provisionMember(transaction, audit, {
    organizationId,
    personId: person.id,
    name: person.fullName ?? fullName ?? person.email,
    grants: [
      { ...grant, workspaceId: null, roleId: organizationRole.id },
      ...workspaces.map(({ workspaceId, role }) => ({ ...grant, workspaceId, roleId: role.id })),
    ],
  });
}
