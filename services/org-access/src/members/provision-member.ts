import { v7 as uuidv7 } from 'uuid';
import { ROLE_WITHOUT_GRANT } from '../access/effective-roles.ts';
import { addGrants, applyGrants, type NewGrant } from '../access/role-grants.ts';
import type { AuditRecorder } from '../audit/audit-trail.ts';
import type { Prisma } from '../generated/client.ts';

/**
 * Makes a person a member of an organization, with the roles of the grants.
 *
 * @throws Prisma's P2002 when the person became a member meanwhile
 * @returns the id of the identity
 */
export async function provisionMember(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  member: {
    organizationId: string;
    personId: string;
    /** Full name or address. */
    name: string;
    grants: readonly Omit<NewGrant, 'identityId'>[];
  },
): Promise<string> {
  const { organizationId, personId, name, grants } = member;
  const identityId = uuidv7();
  await transaction.identity.create({
    data: { id: identityId, organizationId, kind: 'person', personId, name, organizationRoleId: ROLE_WITHOUT_GRANT },
  });
  await addGrants(
    transaction,
    organizationId,
    grants.map((grant) => ({ ...grant, identityId })),
  );
  await applyGrants(transaction, organizationId, [identityId], { areNew: true });
  audit.record(organizationId, {
    action: 'member.added',
    resourceType: 'identity',
    resourceId: identityId,
    after: {
      personId,
      grants: grants.map(({ workspaceId, roleId, source, sourceId }) => ({ workspaceId, roleId, source, sourceId })),
    },
  });
  return identityId;
}
