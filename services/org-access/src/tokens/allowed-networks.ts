import type { VerifyKeyResponse } from '@runyard/contracts';
import type { PrismaClient } from '../generated/client.ts';

/** Returns the addresses and networks from which an organization may be used, where it limits them. */
export async function allowedNetworksOf(
  prisma: PrismaClient,
  organizationId: string,
): Promise<Pick<VerifyKeyResponse, 'allowed_networks'>> {
  const { ipAllowlist, ipAllowlistEnabled } = await prisma.organization.findUniqueOrThrow({
    where: { id: organizationId },
    select: { ipAllowlist: true, ipAllowlistEnabled: true },
  });
  return ipAllowlistEnabled ? { allowed_networks: ipAllowlist } : {};
}
