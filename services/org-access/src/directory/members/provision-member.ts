import { v7 as uuidv7 } from 'uuid';
import { ROLE_WITHOUT_GRANT } from '../../access/effective-roles.ts';
import { addGrants, applyGrants, type NewGrant } from '../../access/role-grants.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Prisma } from '../../generated/client.ts';

/** A person who becomes a member, with what gives them their roles. */
export interface ProvisionedMember {
  personId: string;
  /** Full name or address. */
  name: string;
  /** True when the person takes the membership up with an account that has a password. */
  isAccepted: boolean;
  grants: readonly Omit<NewGrant, 'identityId'>[];
}

/**
 * Makes a person a member of an organization, with the roles of the grants.
 *
 * @throws Prisma's P2002 when the person became a member meanwhile
 * @returns the id of the identity
 */
export async function provisionMember(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  { organizationId, ...member }: ProvisionedMember & { organizationId: string },
): Promise<string> {
  return (await provisionMembers(transaction, audit, organizationId, [member]))[0]!;
}

/** Like `provisionMember`, for many people: the number of statements does not depend on theirs. */
export async function provisionMembers(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
  members: readonly ProvisionedMember[],
): Promise<string[]> {
  const made = members.map((member) => ({ ...member, identityId: uuidv7() }));
  const identityIds = made.map(({ identityId }) => identityId);
  await transaction.identity.createMany({
    data: made.map(({ identityId: id, personId, name, isAccepted }) => {
      const member = { id, organizationId, kind: 'person', personId, name, isAccepted };
      return { ...member, organizationRoleId: ROLE_WITHOUT_GRANT };
    }),
  });
  await addGrants(
    transaction,
    organizationId,
    made.flatMap(({ identityId, grants }) => grants.map((grant) => ({ ...grant, identityId }))),
  );
  await applyGrants(transaction, organizationId, identityIds, { areNew: true });
  for (const { identityId, personId, grants } of made)
    audit.record(organizationId, {
      action: 'member.added',
      resourceType: 'identity',
      resourceId: identityId,
      after: {
        personId,
        grants: grants.map(({ workspaceId, roleId, source, sourceId }) => ({ workspaceId, roleId, source, sourceId })),
      },
    });
  return identityIds;
}
