import type { Organization, Prisma } from '../../generated/client.ts';

/** Makes changes to the set of an organization's workspaces wait for each other, until the transaction ends. */
export async function lockOrganization(
  transaction: Prisma.TransactionClient,
  organizationId: string,
): Promise<Organization> {
  await transaction.$queryRaw`SELECT id FROM organization WHERE id = ${organizationId}::uuid FOR NO KEY UPDATE`;
  return transaction.organization.findUniqueOrThrow({ where: { id: organizationId } });
}
